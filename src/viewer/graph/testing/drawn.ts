/** The real surface in jsdom: what tests of it share. Needs `@vitest-environment jsdom`. */
import { afterEach, beforeEach, expect, vi } from 'vitest';
import { buildTree, createGraphView, decodePayload } from '../../../core';
import type { IGraphModel, IGraphView, ITree } from '../../../core/types';
import type { GraphPayload } from '../../../schema';
import { createSizer } from '../cards/cardSizer';
import { GraphSurface, type ISurfaceOptions } from '../surface';

/** jsdom lacks pointer events. */
export class FakePointerEvent extends MouseEvent {
  readonly pointerId: number;
  readonly pointerType = 'mouse';

  constructor(type: string, init: PointerEventInit = {}) {
    super(type, init);
    this.pointerId = init.pointerId ?? 1;
  }
}
export const SIZE = { w: 1000, h: 600 };
export let surface: GraphSurface;
export let host: HTMLElement;
export let model: IGraphModel;
export let tree: ITree;
export let view: IGraphView;
export const calls = {
  onSelect: vi.fn(),
  onActivate: vi.fn(),
  onSelectTensor: vi.fn(),
  onHover: vi.fn(),
  onContextMenu: vi.fn()
};

/** Draws the initial view of a model. */
export async function show(
  payload: GraphPayload,
  options: ISurfaceOptions = {}
): Promise<void> {
  model = decodePayload(payload);
  const groups = buildTree(model);
  tree = groups;
  view = createGraphView(groups, createSizer(model, groups));
  await view.openInitial(40);
  surface = new GraphSurface(host, {
    callbacks: calls,
    reducedMotion: true,
    ...options
  });
  surface.setScene(view.scene, model, tree);
}

export function root(): HTMLElement {
  return host.querySelector<HTMLElement>('.oad-graph')!;
}

/** The box whose accessible name starts with this. */
export function element(op: string): SVGGElement {
  return host.querySelector<SVGGElement>(`[role=button][aria-label^="${op}"]`)!;
}

/** Client coordinates of a world point in the element's box. */
export function pointOf(
  el: Element,
  dx = 30,
  dy = 10
): { clientX: number; clientY: number } {
  const box = Number(el.getAttribute('data-box'));
  const { x, y, k } = surface.camera;
  return {
    clientX: (view.scene.boxX[box] + dx - x) * k + SIZE.w / 2,
    clientY: (view.scene.boxY[box] + dy - y) * k + SIZE.h / 2
  };
}

export function click(el: Element, more: MouseEventInit = {}, dx = 30): void {
  const position = {
    ...pointOf(el, dx),
    bubbles: true,
    button: 0,
    pointerId: 1,
    ...more
  };
  el.dispatchEvent(
    new PointerEvent('pointerdown', { buttons: 1, ...position })
  );
  el.dispatchEvent(new PointerEvent('pointerup', position));
}

/** Dispatches a key on the focused element. */
export function press(
  key: string,
  more: KeyboardEventInit = {}
): KeyboardEvent {
  const target = root().contains(document.activeElement)
    ? document.activeElement!
    : root();
  const event = new KeyboardEvent('keydown', {
    key,
    bubbles: true,
    cancelable: true,
    ...more
  });
  target.dispatchEvent(event);
  return event;
}

export const frame = (): Promise<number> =>
  new Promise(resolve => requestAnimationFrame(resolve));

/** Call once at the top of a test file. */
export function onSurface(): void {
  vi.stubGlobal('PointerEvent', FakePointerEvent);
  beforeEach(() => {
    vi.spyOn(HTMLElement.prototype, 'clientWidth', 'get').mockReturnValue(
      SIZE.w
    );
    vi.spyOn(HTMLElement.prototype, 'clientHeight', 'get').mockReturnValue(
      SIZE.h
    );
    vi.spyOn(HTMLCanvasElement.prototype, 'getContext').mockReturnValue(null);
    host = document.createElement('div');
    document.body.append(host);
  });

  afterEach(() => {
    surface.dispose();
    expect(host.childElementCount).toBe(0);
    host.remove();
    vi.restoreAllMocks();
    Object.values(calls).forEach(f => f.mockReset());
  });
}
