// @vitest-environment jsdom
import { act, fireEvent, within } from '@testing-library/react';
import { describe, expect, test, vi } from 'vitest';
import type { IReportProvider } from '../../providers/provider';
import type { ComparisonColumns, GraphPayload } from '../../schema';
import type { IViewerLink } from '../state/api';
import {
  guardConsole,
  mount,
  flushUpdates,
  type IMounted
} from '../testing/render';
import { testPayload } from '../testing/payload';
import { surface, type FakeSurface } from '../testing/surface';

vi.mock('../graph/surface', async () => ({
  GraphSurface: (await import('../testing/surface')).FakeSurface
}));
vi.mock(
  '../graph/cards/cardSizer',
  async () => await import('../testing/sizer')
);

guardConsole();

const nodesOf = (payload: GraphPayload): number => payload.nodes.name.length;

/**
 * Three blocks of Conv → Relu in this model, two in the other: there the first Conv is int8 and the last
 * block is missing.
 */
const LEFT = testPayload({ blocks: 3 });
const RIGHT = testPayload({ blocks: 2 });

function columns(): ComparisonColumns {
  const count = nodesOf(RIGHT);
  const pairs = Array.from({ length: count }, (_, pair) => pair);
  const left = Array.from({ length: nodesOf(LEFT) }, (_, node) =>
    node < count ? node : -1
  );
  return {
    verdict: 'similar architecture',
    score_macs: 0.8,
    score_nodes: 0.8,
    core_operators: [nodesOf(LEFT), count],
    core_matched: count,
    left,
    right: pairs,
    kinds: ['operator', 'attributes', 'shapes', 'precision'],
    changes: pairs.map(pair => (pair === 0 ? 0b1010 : 0)),
    main_left: pairs,
    main_right: pairs,
    details: {
      '0': [
        { kind: 'attributes', what: 'group', left: '1', right: '2' },
        { kind: 'precision', what: 'result', left: 'float32', right: 'int8' }
      ]
    },
    interface: [{ kind: 'shapes', what: 'input x', left: '1×3', right: '1×4' }],
    blocks: [
      {
        left: 'first',
        right: 'first',
        pairs: 2,
        changed: { precision: 1 },
        only_left: 0,
        only_right: 0,
        macs_left: 2000,
        macs_right: 1000,
        first_left: 0,
        first_right: 0
      },
      {
        left: 'last',
        right: null,
        pairs: 0,
        changed: {},
        only_left: 2,
        only_right: 0,
        macs_left: 0,
        macs_right: 0,
        first_left: count,
        first_right: -1
      },
      {
        left: 'equal',
        right: 'equal',
        pairs: 1,
        changed: {},
        only_left: 0,
        only_right: 0,
        macs_left: 5,
        macs_right: 5,
        first_left: 1,
        first_right: 1
      }
    ]
  };
}

interface IChangesView extends IMounted {
  readonly surface: FakeSurface;
}

async function view(
  payload: GraphPayload,
  compare?: IReportProvider['compare']
): Promise<IChangesView> {
  const mounted = await mount(payload);
  (mounted.provider as IReportProvider).compare = compare;
  return { ...mounted, surface: surface() };
}

async function pair(
  compare: IReportProvider['compare'] = () => Promise.resolve(columns())
): Promise<{ left: IChangesView; right: IChangesView; link: IViewerLink }> {
  const left = await view(LEFT, compare);
  const right = await view(RIGHT);
  let link: IViewerLink | null = null;
  act(() => {
    link = left.handle.link(right.handle);
  });
  await flushUpdates();
  return { left, right, link: link! };
}

const bar = (view: IChangesView): HTMLElement =>
  within(view.root).getByRole('group', { name: 'Linked view' });

async function run(view: IChangesView, action: string): Promise<void> {
  act(() => void view.handle.run(action));
  await flushUpdates();
}

describe('aligned models', () => {
  test('show the verdict in the bar and the changes in the graph', async () => {
    const { left, right, link } = await pair();
    expect(bar(left).textContent).toContain('Similar architecture');
    expect(bar(left).textContent).toContain('2 only here');
    expect(bar(right).textContent).toContain('2 only in A');
    const value = (view: IChangesView, node: number): number | undefined =>
      view.surface.overlay?.value(node);
    expect([0, 1, nodesOf(RIGHT)].map(n => value(left, n))).toEqual([
      0.75, 0, 1
    ]);
    expect(value(right, 0)).toBe(0.75);
    expect(left.surface.overlay?.text?.(0)).toBe('≠ attributes, precision');
    expect(left.surface.overlay?.text?.(1)).toBe('= same');
    expect(left.surface.overlay?.text?.(nodesOf(RIGHT))).toBe('− removed');
    expect(left.root.textContent).toContain(
      'Values of weights are not compared.'
    );
    act(() => link.end());
    await flushUpdates();
    expect(left.surface.overlay?.text?.(1)).not.toBe('= same');
    expect(left.handle.isEnabled('next-change')).toBe(false);
  });

  test('step from change to change in both views', async () => {
    const { left, right } = await pair();
    const first = nodesOf(RIGHT);
    const visited: number[][] = [];
    for (let i = 0; i < 4; i++) {
      await run(left, 'next-change');
      visited.push([...left.handle.selectedNodes()]);
    }
    expect(visited).toEqual([[0], [first], [first + 1], [0]]);
    expect(right.handle.selectedNodes()).toEqual([0]);
    await run(right, 'previous-change');
    expect(left.handle.selectedNodes()).toEqual([first + 1]);
    expect(right.handle.selectedNodes()).toEqual([]);
  });

  test('dim unchanged nodes on request', async () => {
    const { left, right } = await pair();
    await run(right, 'only-changes');
    expect(left.root.textContent).toContain(
      `3 of ${nodesOf(LEFT)} nodes differ`
    );
    expect(right.root.textContent).toContain(
      `1 of ${nodesOf(RIGHT)} nodes differ`
    );
    const button = within(bar(left)).getByRole('button', {
      name: 'Only changes'
    });
    expect(button.getAttribute('aria-pressed')).toBe('true');
    fireEvent.click(button);
    await flushUpdates();
    expect(right.root.textContent).not.toContain('nodes differ');
  });

  test('show in the inspector what changed in a node, or that nothing did', async () => {
    const { left } = await pair();
    const inspect = async (node: number): Promise<string> => {
      act(() => left.surface.callbacks.onSelect?.(node, { additive: false }));
      await flushUpdates();
      return left.root.textContent ?? '';
    };
    expect(await inspect(0)).toContain('float32 → int8');
    expect(await inspect(1)).toContain(
      'The same in B; values of weights are not compared.'
    );
    expect(await inspect(nodesOf(RIGHT))).toContain(
      'B has no counterpart of this node.'
    );
  });

  test('list blocks that differ in the table; a click selects one', async () => {
    const { left } = await pair();
    fireEvent.click(within(left.root).getByRole('tab', { name: 'Changes' }));
    await flushUpdates();
    const rows = (): (string | null)[] =>
      within(within(left.root).getByRole('tabpanel'))
        .getAllByRole('row')
        .slice(1)
        .map(row => row.textContent);
    expect(rows()).toHaveLength(2);
    expect(rows()[0]).toContain('1 precision');
    expect(rows()[0]).toContain('−1.0 K');
    fireEvent.click(
      within(left.root).getByLabelText(/Only blocks that differ/)
    );
    await flushUpdates();
    expect(rows()).toHaveLength(3);
    fireEvent.click(within(left.root).getByText('last → –'));
    await flushUpdates();
    expect(left.handle.selectedNodes()).toEqual([nodesOf(RIGHT)]);
    expect(left.root.textContent).toContain('1×3 → 1×4');
  });
});

describe('alignment from the host', () => {
  test('does not link selections until it arrives', async () => {
    let respond: (comparison: ComparisonColumns) => void = () => undefined;
    const { left, right } = await pair(
      () => new Promise(resolve => (respond = resolve))
    );
    expect(bar(left).textContent).toContain('Matching…');
    act(() => left.surface.callbacks.onSelect?.(1, { additive: false }));
    await flushUpdates();
    expect(right.handle.selectedNodes()).toEqual([]);
    await act(async () => respond(columns()));
    await flushUpdates();
    expect(right.handle.selectedNodes()).toEqual([1]);
  });

  test.each([
    ['fails', () => Promise.reject(new Error('no server'))],
    ['is of other models', () => Promise.resolve({ ...columns(), left: [0] })],
    ['is not there', () => Promise.resolve(null)]
  ])(
    'is replaced by matching of names and edges if it %s',
    async (_, compare) => {
      const { left, right } = await pair(compare);
      expect(bar(left).textContent).toContain('matched');
      act(() => left.surface.callbacks.onSelect?.(2, { additive: false }));
      await flushUpdates();
      expect(right.handle.selectedNodes()).toEqual([2]);
      expect(left.handle.isEnabled('next-change')).toBe(false);
      expect(
        within(left.root).queryByRole('tab', { name: 'Changes' })
      ).toBeNull();
    }
  );

  test('is replaced by names if the user chooses that', async () => {
    const { left, link } = await pair();
    fireEvent.change(within(bar(left)).getByRole('combobox'), {
      target: { value: 'name' }
    });
    await flushUpdates();
    expect(link.options.match).toBe('name');
    expect(left.handle.isEnabled('next-change')).toBe(false);
    expect(bar(left).textContent).not.toContain('architecture');
  });
});

describe('merged graph', () => {
  async function merge(view: IChangesView): Promise<HTMLElement> {
    fireEvent.click(within(bar(view)).getByRole('button', { name: 'Merge' }));
    // The other viewer is laid out in event loop turns of its own.
    for (let step = 0; step < 5; step++) {
      await flushUpdates();
    }
    return within(view.root).getByRole('region', { name: 'Merged graph' });
  }

  test.each([0, 1])(
    'is the same from view %i: all of A, marked',
    async from => {
      const { left, right } = await pair();
      const region = await merge([left, right][from]);
      const ownSurface = surface();
      expect(region.textContent).toContain('Both as one graph');
      expect(region.textContent).toContain('− 2 removed');
      expect(region.textContent).toContain('+ 0 added');
      expect(ownSurface.scene?.boxCount).toBeGreaterThan(0);
      const removed = nodesOf(RIGHT);
      expect(ownSurface.overlay?.sign?.(0)).toBe('≠');
      expect(ownSurface.overlay?.sign?.(1)).toBe('');
      expect(ownSurface.overlay?.sign?.(removed)).toBe('−');
      expect(ownSurface.overlay?.ghost?.(removed)).toBe(true);
      expect(ownSurface.overlay?.ghost?.(0)).toBe(false);
      // No totals: they would belong to neither model.
      expect(
        within(region).queryByRole('group', { name: 'Totals' })
      ).toBeNull();
    }
  );

  test('adds the nodes of B; keys step from change to change', async () => {
    const base = columns();
    const swapped = {
      ...base,
      left: base.right,
      right: base.left,
      main_left: base.main_right,
      main_right: base.main_left
    };
    const left = await view(RIGHT, () => Promise.resolve(swapped));
    const right = await view(LEFT);
    act(() => void left.handle.link(right.handle));
    await flushUpdates();
    const region = await merge(left);
    const ownSurface = surface();
    expect(region.textContent).toContain('+ 2 added');
    const signs = Array.from(
      { length: nodesOf(LEFT) },
      (_, node) => ownSurface.overlay?.sign?.(node) ?? ''
    );
    const added = signs.flatMap((sign, node) => (sign === '+' ? [node] : []));
    expect(added).toHaveLength(2);
    expect(added.some(node => ownSurface.overlay?.ghost?.(node))).toBe(false);
    const root = region.querySelector('.oad-Viewer')!;
    fireEvent.keyDown(root, { key: 'c' });
    await flushUpdates();
    expect(region.textContent).toContain('Change 1 of 3');
    // The view behind it does not receive the key.
    expect(left.handle.selectedNodes()).toEqual([]);
    fireEvent.keyDown(root, { key: 'v' });
    await flushUpdates();
    expect(region.textContent).toContain(`3 of ${nodesOf(LEFT)} nodes differ`);
  });

  test('closes with Side by side or with the link', async () => {
    const { left, link } = await pair();
    const region = await merge(left);
    fireEvent.click(
      within(region).getByRole('button', { name: 'Side by side' })
    );
    await flushUpdates();
    const isClosed = (): boolean =>
      within(left.root).queryByRole('region', { name: 'Merged graph' }) ===
      null;
    expect(isClosed()).toBe(true);
    expect(left.surface.overlay?.text?.(1)).toBe('= same');
    await merge(left);
    act(() => link.end());
    await flushUpdates();
    expect(isClosed()).toBe(true);
  });
});
