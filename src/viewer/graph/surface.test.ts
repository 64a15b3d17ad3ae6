// @vitest-environment jsdom
import { describe, expect, it, vi } from 'vitest';
import type { IOverlay } from './surface';
import {
  calls,
  click,
  element,
  FakePointerEvent,
  frame,
  host,
  model,
  onSurface,
  pointOf,
  press,
  root,
  show,
  SIZE,
  surface,
  tree,
  view
} from './testing/drawn';
import { encoderPayload, PayloadMaker } from './testing/payload';

onSurface();

describe('drawing', () => {
  it('names every box for a screen reader', async () => {
    await show(encoderPayload(2));
    expect(element('Conv').getAttribute('aria-label')).toMatch(
      /Conv \/model\/patch\/Conv, 116.M MACs/
    );
    expect(element('EncoderModel').getAttribute('aria-expanded')).toBe('true');
    expect(element('Input pixel_values').getAttribute('aria-label')).toContain(
      '1×3×224×224'
    );
  });

  it('marks nodes and blocks, but not tensors, with their entity', async () => {
    await show(encoderPayload(1));
    const entities = (kind: string) =>
      [...host.querySelectorAll(`.oad-${kind}`)].map(box =>
        box.getAttribute('data-entity')
      );
    expect(entities('node').map(Number)).toContain(0);
    expect(new Set(entities('input'))).toEqual(new Set([null]));
  });

  it('draws only the visible part', async () => {
    await show(encoderPayload(60));
    await view.expandAll(Infinity);
    surface.setScene(view.scene, model, tree);
    const boxCount = host.querySelectorAll('.oad-box').length;
    expect(view.scene.boxCount).toBeGreaterThan(1200);
    expect(boxCount).toBeLessThan(200);
    surface.setCamera({ ...surface.camera, k: 0.2 });
    await frame();
    expect(host.querySelectorAll('.oad-box')).toHaveLength(0);
    expect(host.querySelectorAll('.oad-edges *')).toHaveLength(0);
    expect(host.querySelector('canvas')!.style.display).toBe('block');
  });

  it('has the class for motion until painted at rest', async () => {
    await show(encoderPayload(2));
    const frames: FrameRequestCallback[] = [];
    const requestFrame = vi
      .spyOn(globalThis, 'requestAnimationFrame')
      .mockImplementation(callback => frames.push(callback));
    const paint = () => frames.splice(0).forEach(callback => callback(0));
    const isMoving = () => root().classList.contains('oad-moving');
    surface.setCamera({ ...surface.camera, x: surface.camera.x + 20 });
    paint();
    expect(isMoving()).toBe(true);
    // The camera is at rest, and the next frame has not been drawn yet.
    await vi.waitFor(() => expect(frames).toHaveLength(1));
    expect(isMoving()).toBe(true);
    paint();
    expect(isMoving()).toBe(false);
    requestFrame.mockRestore();
  });

  it('shows hostile names as text', async () => {
    const m = new PayloadMaker();
    const evil =
      '<img src=x onerror="window.hit=1"><script>window.hit=1</script>';
    const x = m.input(evil, [1]);
    const scope = m.scope(evil, evil);
    const a = m.node({
      op: evil,
      name: evil,
      inputs: [x],
      shape: [evil],
      scope
    });
    await show(
      m.build([
        m.node({ op: 'Relu', name: evil, inputs: [a], shape: [1], scope })
      ]),
      {
        details: { weights: true, names: true, costs: true }
      }
    );
    await view.expandAll(99);
    surface.setScene(view.scene, model, tree);
    expect(host.querySelector('img, script, [onerror]')).toBeNull();
    expect(host.textContent).toContain('<img');
    expect('hit' in window).toBe(false);
  });

  it('paints an overlay, zero muted and unknown grey', async () => {
    await show(encoderPayload(2));
    const values = new Map([
      ['Conv', 0.5],
      ['Relu', 0]
    ]);
    const overlay: IOverlay = {
      value: e =>
        e < model.nodeCount ? (values.get(model.opType(e)) ?? NaN) : NaN,
      color: () => '#123456',
      textColor: () => '#fedcba'
    };
    surface.setOverlay(overlay);
    await frame();
    const fill = (op: string): string | null =>
      element(op).querySelector('rect')!.getAttribute('fill');
    expect(fill('Conv')).toBe('#123456');
    expect(element('Conv').querySelector('path')!.getAttribute('fill')).toBe(
      'var(--oad-cat-layer)'
    );
    expect(element('Conv').querySelector('text')!.getAttribute('fill')).toBe(
      '#fedcba'
    );
    expect(fill('Relu')).toBe('var(--oad-card-zero)');
    expect(fill('MaxPool')).toBe('var(--oad-card-unknown)');
  });
});

describe('styled edges', () => {
  it('have the colour and dashes of the overlay', async () => {
    await show(encoderPayload(1));
    const overlay: IOverlay = {
      value: () => 0,
      color: () => '#000000',
      textColor: () => '#ffffff',
      wire: edge => (edge === 0 ? { color: '#a03070', dash: [5, 4] } : null)
    };
    const styledEdges = (): SVGGElement[] =>
      [...host.querySelectorAll<SVGGElement>('.oad-edges > g')].filter(g =>
        g.firstElementChild!.getAttribute('stroke-dasharray')
      );
    expect(styledEdges()).toHaveLength(0);
    surface.setOverlay(overlay);
    await frame();
    expect(styledEdges()).toHaveLength(1);
    expect(styledEdges()[0].style.stroke).toMatch(/a03070|160, 48, 112/);
    expect(
      styledEdges()[0].firstElementChild!.getAttribute('stroke-dasharray')
    ).toBe('5 4');
    surface.setOverlay(null);
    await frame();
    expect(styledEdges()).toHaveLength(0);
  });
});

describe('pointer', () => {
  it('selects, adds with Shift and clears on the background', async () => {
    await show(encoderPayload(2));
    const conv = Number(element('Conv').getAttribute('data-entity'));
    click(element('Conv'));
    expect(calls.onSelect).toHaveBeenLastCalledWith(conv, { additive: false });
    click(element('Conv'), { shiftKey: true });
    expect(calls.onSelect).toHaveBeenLastCalledWith(conv, { additive: true });
    click(element('Conv'), { clientX: 5, clientY: 5 });
    expect(calls.onSelect).toHaveBeenLastCalledWith(null, { additive: false });
    click(element('Input'));
    expect(calls.onSelectTensor).toHaveBeenCalledTimes(1);
  });

  it('selects an area with Shift+drag, and leaves Escape to the host', async () => {
    const onSelectArea = vi.fn();
    const onEscape = vi.fn(() => false);
    await show(encoderPayload(2), {
      callbacks: { ...calls, onSelectArea, onEscape }
    });
    const drag = (type: string, clientX: number, clientY: number): void => {
      const click = { clientX, clientY, shiftKey: true };
      root().dispatchEvent(new FakePointerEvent(type, click));
    };
    drag('pointerdown', 0, 0);
    drag('pointermove', SIZE.w, SIZE.h);
    drag('pointerup', SIZE.w, SIZE.h);
    const { scene } = view;
    const { x, y, k } = surface.camera;
    const expected = [...scene.boxKind.keys()].filter(b => {
      const cx = (scene.boxX[b] + scene.boxW[b] / 2 - x) * k + SIZE.w / 2;
      const cy = (scene.boxY[b] + scene.boxH[b] / 2 - y) * k + SIZE.h / 2;
      const inside = cx >= 0 && cx <= SIZE.w && cy >= 0 && cy <= SIZE.h;
      return inside && scene.boxKind[b] <= 1;
    });
    expect(expected.length).toBeGreaterThan(1);
    expect(onSelectArea).toHaveBeenCalledWith(
      expected.map(b => scene.boxEntity[b]),
      { additive: true }
    );
    const key = new KeyboardEvent('keydown', {
      key: 'Escape',
      cancelable: true
    });
    root().dispatchEvent(key);
    expect(onEscape).toHaveBeenCalledTimes(1);
    expect(key.defaultPrevented).toBe(false);
  });

  it('expands a group on double click, recursively with Alt, on one click at the chevron', async () => {
    await show(encoderPayload(2));
    const card = element('EncoderLayer');
    const entity = Number(card.getAttribute('data-entity'));
    card.dispatchEvent(
      new MouseEvent('dblclick', { bubbles: true, ...pointOf(card, 60) })
    );
    expect(calls.onActivate).toHaveBeenLastCalledWith(entity, {
      recursive: false
    });
    card.dispatchEvent(
      new MouseEvent('dblclick', {
        bubbles: true,
        altKey: true,
        ...pointOf(card, 60)
      })
    );
    expect(calls.onActivate).toHaveBeenLastCalledWith(entity, {
      recursive: true
    });
    click(card, {}, 10);
    expect(calls.onActivate).toHaveBeenCalledTimes(3);
    expect(calls.onSelect).not.toHaveBeenCalled();
  });

  it('ignores the second click on a chevron after the group expanded', async () => {
    await show(encoderPayload(2));
    const card = element('EncoderLayer');
    const position = pointOf(card, 10);
    click(card, position);
    expect(calls.onActivate).toHaveBeenCalledTimes(1);
    surface.setCamera({ ...surface.camera, x: surface.camera.x - 120 });
    click(root(), position);
    root().dispatchEvent(
      new MouseEvent('dblclick', { bubbles: true, ...position })
    );
    expect(calls.onActivate).toHaveBeenCalledTimes(1);
    expect(calls.onSelect).not.toHaveBeenCalled();
    // Elsewhere it is an ordinary click.
    const end = { clientX: position.clientX, clientY: position.clientY + 200 };
    click(root(), end);
    expect(calls.onSelect).toHaveBeenCalledTimes(1);
  });

  it('pans by dragging without selecting', async () => {
    await show(encoderPayload(2));
    const before = surface.camera;
    const fire = (type: string, x: number): boolean =>
      root().dispatchEvent(
        new PointerEvent(type, {
          clientX: x,
          clientY: 300,
          pointerId: 1,
          button: 0,
          buttons: 1
        })
      );
    fire('pointerdown', 500);
    fire('pointermove', 400);
    fire('pointerup', 400);
    expect(surface.camera.x).toBeCloseTo(before.x + 100 / before.k);
    expect(calls.onSelect).not.toHaveBeenCalled();
  });

  it('zooms with Ctrl+wheel and leaves a wheel without effect to the page', async () => {
    await show(encoderPayload(2));
    const wheel = (init: WheelEventInit): WheelEvent => {
      const event = new WheelEvent('wheel', {
        cancelable: true,
        clientX: 500,
        clientY: 300,
        ...init
      });
      root().dispatchEvent(event);
      return event;
    };
    const { k } = surface.camera;
    expect(wheel({ deltaY: -100, ctrlKey: true }).defaultPrevented).toBe(true);
    expect(surface.camera.k).toBeGreaterThan(k);
    expect(wheel({ deltaY: 50 }).defaultPrevented).toBe(true);
    wheel({ deltaY: 1e7 });
    expect(wheel({ deltaY: 1e7 }).defaultPrevented).toBe(false);
  });
});

describe('keyboard', () => {
  it('moves the focus along edges, and Enter expands', async () => {
    await show(encoderPayload(2));
    click(element('Conv'));
    root().focus();
    const steps: string[] = [];
    for (let i = 0; i < 3; i++) {
      press('ArrowRight');
      const name = document.activeElement!.getAttribute('aria-label')!;
      steps.push(name.split(/[ ,]/)[0]);
    }
    expect(steps).toEqual(['Relu', 'MaxPool', 'Reshape']);
    press('ArrowLeft');
    expect(document.activeElement).toBe(element('MaxPool'));
    expect(host.querySelectorAll('[tabindex="0"][role=button]')).toHaveLength(
      1
    );
    press('Enter', { altKey: true });
    expect(calls.onActivate).toHaveBeenCalledWith(expect.any(Number), {
      recursive: true
    });
    press('Escape');
    expect(calls.onSelect).toHaveBeenLastCalledWith(null, { additive: false });
  });

  it('continues from a box focused by other means', async () => {
    await show(encoderPayload(2));
    click(element('Conv'));
    element('MaxPool').focus();
    press('ArrowRight');
    expect(document.activeElement).toBe(element('Reshape'));
  });

  it('handles only its own keys', async () => {
    await show(encoderPayload(2));
    expect(press('f', { ctrlKey: true }).defaultPrevented).toBe(false);
    expect(press('Tab').defaultPrevented).toBe(false);
    expect(press('+').defaultPrevented).toBe(true);
    expect(press(' ').defaultPrevented).toBe(true);
  });

  it('keeps the focus inside while the focused box is culled', async () => {
    await show(encoderPayload(60));
    root().focus();
    press('Home');
    const { camera } = surface;
    const name = document.activeElement!.getAttribute('aria-label');
    expect(document.activeElement!.getAttribute('role')).toBe('button');
    surface.setCamera({ ...camera, x: view.scene.width });
    await frame();
    expect(document.activeElement).toBe(root());
    surface.setCamera(camera);
    await frame();
    expect(document.activeElement!.getAttribute('aria-label')).toBe(name);
  });

  it('stays on a box that is redrawn or culled, without moving the view', async () => {
    await show(encoderPayload(2));
    root().focus();
    press('Home');
    const away = vi.fn();
    for (const name of ['focusin', 'focusout'] as const) {
      root().addEventListener(name, ({ relatedTarget }) => {
        if (!root().contains(relatedTarget as Node | null)) {
          away();
        }
      });
    }
    const box = Number(document.activeElement!.getAttribute('data-box'));
    // Half of the box is out of view.
    const x = view.scene.boxX[box] + view.scene.boxW[box] / 2;
    for (const k of [1, 0.7, 0.2]) {
      const camera = { ...surface.camera, x: x + SIZE.w / 2 / k, k };
      surface.setCamera(camera);
      await frame();
      await frame();
      expect(surface.camera.x).toBeCloseTo(camera.x);
      expect(host.querySelectorAll('.oad-ring-cursor')).toHaveLength(1);
      const focused = document.activeElement!.getAttribute('data-box');
      expect(focused).toBe(k > 0.3 ? String(box) : null);
    }
    expect(document.activeElement).toBe(root());
    expect(away).not.toHaveBeenCalled();
  });

  it('announces the focused box if it has no element', async () => {
    await show(encoderPayload(60));
    surface.setCamera({ ...surface.camera, k: 0.2 });
    await frame();
    root().focus();
    press('Home');
    expect(host.querySelector('[aria-live]')!.textContent).toMatch(/^Input/);
    expect(document.activeElement).toBe(root());
    surface.setCamera({ x: 0, y: view.scene.height / 2, k: 1 });
    await frame();
    expect(document.activeElement!.getAttribute('role')).toBe('button');
  });

  it('does not take back the focus from elsewhere', async () => {
    await show(encoderPayload(60));
    surface.setCamera({ ...surface.camera, k: 0.2 });
    await frame();
    root().focus();
    press('Home');
    const other = document.body.appendChild(document.createElement('input'));
    other.focus();
    surface.setCamera({ ...surface.camera, k: 1 });
    await frame();
    expect(document.activeElement).toBe(other);
    other.remove();
  });
});

describe('scenes', () => {
  it('keeps the expanded box in place and announces it', async () => {
    await show(encoderPayload(4));
    const card = element('EncoderLayer');
    const entity = Number(card.getAttribute('data-entity'));
    click(card, {}, 60);
    card.focus();
    const before = pointOf(card, 0, 0);
    const previous = view.scene;
    await view.expand(entity - model.nodeCount);
    surface.setScene(view.scene, model, tree, {
      animateFrom: previous,
      anchorEntity: entity
    });
    const panel = host.querySelector(`[data-entity="${entity}"]`)!;
    expect(panel.getAttribute('aria-expanded')).toBe('true');
    expect(document.activeElement).toBe(panel);
    const after = pointOf(panel, 0, 0);
    expect(after.clientX).toBeCloseTo(before.clientX);
    expect(after.clientY).toBeCloseTo(before.clientY);
    expect(host.querySelector('[aria-live]')!.textContent).toMatch(
      /EncoderLayer.*expanded/
    );
  });

  it('centres the group of a hidden node', async () => {
    await show(encoderPayload(12));
    const node = model.nodeCount - 4;
    surface.zoomTo(node, false);
    const box = view.scene.boxOf(node);
    expect(surface.camera.x).toBeCloseTo(
      view.scene.boxX[box] + view.scene.boxW[box] / 2
    );
    expect(surface.camera.k).toBeGreaterThanOrEqual(0.8);
  });

  it('accepts an empty model', async () => {
    await show(new PayloadMaker().build([]));
    surface.fit();
    press('ArrowRight');
    await frame();
    expect(host.querySelectorAll('.oad-box')).toHaveLength(0);
  });
});
