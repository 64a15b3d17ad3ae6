// @vitest-environment jsdom
import { act, fireEvent, within } from '@testing-library/react';
import { describe, expect, test, vi } from 'vitest';
import { BoxKind, decodePayload } from '../../core';
import type { MemoryProvider } from '../../providers/memoryProvider';
import type { GraphPayload } from '../../schema';
import type { IViewerLink } from '../state/api';
import {
  guardConsole,
  mount,
  flushUpdates,
  type IMounted
} from '../testing/render';
import { testPayload } from '../testing/payload';
import { surface, type FakeSurface } from '../testing/surface';
import { readLinkOptions } from './linkOptions';
import { relativeChangeText, differenceOf } from '../summary/totalDifference';
import { IDENTITY } from '../i18n/translate';

vi.mock('../graph/surface', async () => ({
  GraphSurface: (await import('../testing/surface')).FakeSurface
}));
vi.mock(
  '../graph/cards/cardSizer',
  async () => await import('../testing/sizer')
);

guardConsole();

interface ILinkTestView extends IMounted {
  readonly provider: MemoryProvider;
  readonly surface: FakeSurface;
}

/** Three blocks of Conv → Relu in this model, two in the other: the last block has no counterpart. */
const LEFT = (): GraphPayload => named(testPayload({ blocks: 3 }), 'left.onnx');
const RIGHT = (): GraphPayload =>
  named(testPayload({ blocks: 2 }), 'right.onnx');

function named(payload: GraphPayload, name: string): GraphPayload {
  return { ...payload, model: { ...payload.model, name } };
}

async function view(
  payload: GraphPayload,
  reload?: (batch: number) => GraphPayload
): Promise<ILinkTestView> {
  const mounted = await mount(payload, {
    reload: ({ bindings }) =>
      reload && 'batch' in bindings ? reload(bindings.batch) : payload
  });
  return { ...mounted, surface: surface() };
}

interface IPair {
  readonly left: ILinkTestView;
  readonly right: ILinkTestView;
  readonly link: IViewerLink;
  readonly onEnd: ReturnType<typeof vi.fn>;
  readonly onOptions: ReturnType<typeof vi.fn>;
}

async function pair(
  left = LEFT(),
  right = RIGHT(),
  reload?: (batch: number) => GraphPayload
): Promise<IPair> {
  const views = [await view(left), await view(right, reload)];
  const onEnd = vi.fn();
  const onOptions = vi.fn();
  let link: IViewerLink | null = null;
  act(() => {
    link = views[0].handle.link(views[1].handle, {}, { onEnd, onOptions });
  });
  await flushUpdates();
  if (link === null) {
    throw new Error('The views were not linked.');
  }
  return { left: views[0], right: views[1], link, onEnd, onOptions };
}

async function select(view: ILinkTestView, entity: number, additive = false) {
  act(() => view.surface.callbacks.onSelect?.(entity, { additive }));
  await flushUpdates();
}

const bar = (view: ILinkTestView): HTMLElement =>
  within(view.root).getByRole('group', { name: 'Linked view' });

const openGroups = ({ surface: { scene } }: ILinkTestView): number[] =>
  [...(scene?.boxKind.keys() ?? [])]
    .filter(box => scene!.boxKind[box] === BoxKind.OpenGroup)
    .map(box => scene!.boxEntity[box])
    .sort((a, b) => a - b);

describe('selection', () => {
  test('of a node selects its counterpart, both ways', async () => {
    const { left, right } = await pair();
    await select(left, 2);
    expect(right.handle.selectedNodes()).toEqual([2]);
    expect(bar(right).textContent).toContain('Counterpart');
    await select(right, 1);
    expect(left.handle.selectedNodes()).toEqual([1]);
  });

  test('without a counterpart clears the other side and shows a notice on both', async () => {
    const { left, right } = await pair();
    await select(left, 2);
    await select(left, 4);
    expect(right.handle.selectedNodes()).toEqual([]);
    expect(left.root.textContent).toContain('“conv_2” has no counterpart in B');
    expect(right.root.textContent).toContain(
      '“conv_2” of A has no counterpart'
    );
    // The side without a counterpart does not clear the selection of the first.
    expect(left.handle.selectedNodes()).toEqual([4]);
  });

  test('of several nodes selects those with a counterpart', async () => {
    const { left, right } = await pair();
    await select(left, 0);
    await select(left, 5, true);
    expect(right.handle.selectedNodes()).toEqual([0]);
    expect(left.root.textContent).toContain(
      '1 of 2 selected have no counterpart in B'
    );
    await select(left, 2, true);
    expect(right.handle.selectedNodes()).toEqual([0, 2]);
  });

  test('is one step of history on each side', async () => {
    const { left, right } = await pair();
    await select(left, 0);
    await select(left, 2);
    for (const { root, handle } of [right, left]) {
      fireEvent.keyDown(root, { key: 'Backspace', code: '' });
      await flushUpdates();
      expect(handle.selectedNodes()).toEqual([0]);
      await select(left, 2);
    }
  });

  test('of tensors and hovering are linked', async () => {
    const { left, right } = await pair();
    act(() => left.surface.callbacks.onHover?.({ kind: 'entity', id: 2 }, 2));
    await flushUpdates();
    expect(right.surface.hits).toEqual([2]);
    act(() => left.surface.callbacks.onHover?.(null, -1));
    await flushUpdates();
    expect(right.surface.hits).toEqual([]);
    act(() =>
      left.surface.callbacks.onSelectTensor?.(
        { kind: 'tensor', id: 2 },
        { activated: false }
      )
    );
    await flushUpdates();
    expect(right.surface.tensors).toEqual([2]);
  });

  test('can be set to the nodes of only one side', async () => {
    const { left, right } = await pair();
    expect(bar(left).textContent).toContain('5 of 7 matched');
    expect(bar(right).textContent).toContain('5 of 5 matched');
    expect(bar(right).textContent).toContain('2 only in A');
    fireEvent.click(
      within(bar(left)).getByRole('button', { name: '2 only here' })
    );
    await flushUpdates();
    expect(left.handle.selectedNodes()).toEqual([4, 5]);
    expect(right.handle.selectedNodes()).toEqual([]);
  });
});

describe('graph', () => {
  test('blocks expand and collapse together', async () => {
    const { left, right } = await pair();
    const groupOf = ({ surface: viewSurface }: ILinkTestView): number =>
      openGroups({ surface: viewSurface } as ILinkTestView)[0];
    fireEvent.keyDown(left.root, { key: 'E', shiftKey: true, code: '' });
    await flushUpdates();
    expect(openGroups(left)).toEqual([]);
    expect(openGroups(right)).toEqual([]);
    // The net is the first group of both sides.
    act(() => left.surface.callbacks.onActivate?.(7, { recursive: false }));
    await flushUpdates();
    expect(groupOf(left)).toBe(7);
    expect(groupOf(right)).toBe(5);
    act(() => right.surface.callbacks.onActivate?.(5, { recursive: false }));
    await flushUpdates();
    expect(openGroups(left)).toEqual([]);
  });

  test('a collapsed counterpart is revealed', async () => {
    const { left, right } = await pair();
    fireEvent.keyDown(right.root, { key: 'E', shiftKey: true, code: '' });
    await flushUpdates();
    act(() => left.handle.selectNodes([2]));
    await flushUpdates();
    expect(openGroups(right)).toContain(5);
    expect(right.surface.zoomed[right.surface.zoomed.length - 1]).toBe(2);
  });

  test('heatmap and scale are shared, and a colour has the same value', async () => {
    const { left, right } = await pair();
    const open = (view: ILinkTestView): void => {
      fireEvent.keyDown(view.root, { key: 'e', code: '' });
    };
    open(left);
    await flushUpdates();
    // Conv 0 costs 1000 MACs on both sides; the costliest node has 3000 here and 2000 there.
    expect(left.surface.overlay?.value(0)).toBeCloseTo(1 / 3);
    expect(right.surface.overlay?.value(0)).toBeCloseTo(1 / 3);
    act(() => right.handle.setOverlay('params'));
    await flushUpdates();
    expect(left.surface.overlay?.text?.(0)).toBe(
      right.surface.overlay?.text?.(0)
    );
    expect(left.surface.overlay?.text?.(0)).toContain('params');
    act(() => left.handle.setOverlay(null));
    await flushUpdates();
    expect(right.surface.overlay).toBeNull();
  });

  test('cameras are linked only on request', async () => {
    const { left, right, onOptions } = await pair();
    const moveCamera = (): void => {
      left.surface.setCamera({ x: left.surface.camera.x + 10, y: 0, k: 2 });
      act(() => left.surface.callbacks.onCameraChange?.(left.surface.camera));
    };
    const before = right.surface.camera;
    moveCamera();
    expect(right.surface.camera).toEqual(before);
    const button = within(bar(left)).getByRole('button', {
      name: 'Move and zoom both views together'
    });
    fireEvent.click(button);
    await flushUpdates();
    expect(onOptions).toHaveBeenLastCalledWith({ match: 'auto', camera: true });
    // The other view takes over this one's zoom, then moves by the same distance on the screen.
    expect(right.surface.camera.k).toBe(2);
    const { x } = right.surface.camera;
    moveCamera();
    expect(right.surface.camera.x).toBe(x + 10);
  });
});

describe('numbers', () => {
  test('dimensions with the same name are set together', async () => {
    const dims = (value: number): GraphPayload['dims'] => [
      {
        name: 'batch',
        value,
        assumed: false,
        suggested: 2,
        where: ['x[0]'],
        symbol: '',
        follows: null
      }
    ];
    const of = (value: number): GraphPayload =>
      testPayload({ dims: dims(value) });
    const { left, right } = await pair(of(4), of(2), of);
    expect(right.provider.loads[1].bindings).toEqual({ batch: 4 });
    expect(bar(left).textContent).not.toContain('Sizes differ');
    expect(right.provider.loads).toHaveLength(2);
    expect(left.provider.loads).toHaveLength(1);
  });

  test('different dimensions are shown, and requested only once', async () => {
    const fixed = testPayload({
      dims: [
        {
          name: 'batch',
          value: 8,
          assumed: false,
          suggested: 8,
          where: [],
          symbol: '',
          follows: null
        }
      ]
    });
    // The other side keeps its own size, whatever is requested.
    const { right } = await pair(LEFT(), fixed);
    expect(bar(right).textContent).toContain('Dimensions differ: batch 8 | 2');
    await flushUpdates();
    expect(right.provider.loads).toHaveLength(2);
  });

  test('totals are shown below each other with their difference', async () => {
    const { left, right } = await pair();
    const totals = within(left.root).getByRole('group', { name: 'Totals' });
    expect(totals.textContent).toContain('vs B +100 (+50.0 %)');
    expect(
      within(right.root).getByRole('group', { name: 'Totals' }).textContent
    ).toContain('vs A −100 (−33.3 %)');
    expect(totals.textContent).toContain('vs B equal');
    // FLOPs do not include the custom operator on either side.
    const difference = differenceOf(
      decodePayload(LEFT()),
      decodePayload(RIGHT()),
      'flops',
      IDENTITY
    );
    expect(difference.text).toBe('—');
    expect(difference.detail).toContain('is incomplete');
  });

  test('unknown totals have no difference', () => {
    const unknown = RIGHT();
    unknown.metrics.total_macs = null;
    const {
      text,
      detail,
      isKnown: known
    } = differenceOf(
      decodePayload(LEFT()),
      decodePayload(unknown),
      'macs',
      IDENTITY
    );
    expect([text, known]).toEqual(['—', false]);
    expect(detail).toContain('unknown');
  });

  test('relativeChangeText formats changes', () => {
    expect(relativeChangeText(200, 300)).toBe('+50.0 %');
    expect(relativeChangeText(300, 200)).toBe('−33.3 %');
    expect(relativeChangeText(1_000_000, 1_000_001)).toBe('<0.1 %');
    expect(relativeChangeText(2, 40)).toBe('×20');
  });
});

describe('options and end of the link', () => {
  test('unlinking does not change the views', async () => {
    const { left, right, onEnd } = await pair();
    await select(left, 2);
    fireEvent.click(
      within(bar(right)).getByRole('button', { name: 'Unlink the views' })
    );
    await flushUpdates();
    expect(onEnd).toHaveBeenCalledTimes(1);
    expect(
      within(left.root).queryByRole('group', { name: 'Linked view' })
    ).toBe(null);
    await select(left, 0);
    expect(right.handle.selectedNodes()).toEqual([2]);
    expect(right.root.textContent).not.toContain('vs A');
  });

  test('another match mode is applied and reported', async () => {
    const { left, right, onOptions } = await pair();
    fireEvent.change(
      within(bar(left)).getByRole('combobox', { name: 'Match by' }),
      { target: { value: 'name' } }
    );
    await flushUpdates();
    expect(onOptions).toHaveBeenLastCalledWith({
      match: 'name',
      camera: false
    });
    // By name and output names: Relu 1 is found by the tensor it produces.
    await select(left, 3);
    expect(right.handle.selectedNodes()).toEqual([3]);
    expect(bar(left).textContent).toContain('same output name');
  });

  test('a view cannot be linked with itself', async () => {
    const { left, link } = await pair();
    link.end();
    expect(left.handle.link(left.handle)).toBeNull();
  });

  test('saved options are validated', () => {
    expect(readLinkOptions({ match: 'tag', camera: true })).toEqual({
      match: 'tag',
      camera: true
    });
    expect(readLinkOptions({ match: '__proto__', camera: 'yes' })).toEqual({
      match: 'auto',
      camera: false
    });
    expect(readLinkOptions(null).match).toBe('auto');
  });
});
