// @vitest-environment jsdom
import { act, fireEvent, screen, within } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { repeatPayload } from '../../../../core/testing/payloads';
import type { GraphPayload } from '../../../../schema';
import { guardConsole, mount, flushUpdates } from '../../../testing/render';
import { surface } from '../../../testing/surface';

vi.mock('../../../graph/surface', async () => ({
  GraphSurface: (await import('../../../testing/surface')).FakeSurface
}));
vi.mock(
  '../../../graph/cards/cardSizer',
  async () => await import('../../../testing/sizer')
);

guardConsole();

/** In the first instance: the two nodes of the MLP, and the residual around them. */
function payload(): GraphPayload {
  const kind = { variant: 'plain', how: 'structure', confidence: 0.9 };
  return {
    ...repeatPayload(3),
    blocks: {
      what: [0, 1],
      kinds: [
        { ...kind, kind: 'residual', facts: {} },
        {
          ...kind,
          kind: 'mlp',
          facts: { hidden_size: 16, bias: false, act: 'Relu', inner: null }
        }
      ],
      offsets: [0, 4, 6],
      nodes: [1, 1, 1, 1, 2, 1]
    }
  };
}

async function select(entity: number): Promise<void> {
  act(() => surface().callbacks.onSelect?.(entity, { additive: false }));
  await flushUpdates();
}

test('a node lists its blocks, their costs and how they were recognised', async () => {
  await mount(payload());
  await select(2);
  const list = screen.getByText('Part of').closest('details')!;
  const rows = within(list).getAllByRole('listitem');
  expect(rows.map(row => row.querySelector('button')!.textContent)).toEqual([
    'MLP 1plain',
    'Residual 1plain'
  ]);
  expect(rows[0].textContent).toContain('2 nodes · 256 MACs');
  expect(rows[0].textContent).toContain('confidence 90 %');
  expect(rows[0].textContent).toContain('hidden size 16 · bias ✗ · act Relu');
  expect(rows[0].textContent).not.toContain('inner');
});

test('a block is selected with all its nodes', async () => {
  await mount(payload());
  await select(2);
  fireEvent.click(screen.getByText(/^Residual 1/));
  await flushUpdates();
  expect(surface().selection).toEqual([1, 2, 3, 4]);
  expect(surface().fittedTo).toEqual([1, 2, 3, 4]);
  expect(screen.getByText('4 boxes')).toBeTruthy();
});

test('a group lists the blocks inside it; a model without blocks has no list', async () => {
  const { unmount } = await mount(payload());
  // Group entities follow the nodes: the repeat, then its first instance.
  await select(payload().nodes.op.length + 1);
  expect(screen.getByText('Recognised inside')).toBeTruthy();
  unmount();
  await mount({ ...payload(), blocks: null });
  await select(2);
  expect(screen.queryByText('Part of')).toBeNull();
});
