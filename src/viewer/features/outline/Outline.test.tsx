// @vitest-environment jsdom
import { act, fireEvent, screen, within } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { buildTree, decodePayload } from '../../../core';
import { guardConsole, mount, flushUpdates } from '../../testing/render';
import { surface } from '../../testing/surface';
import { testPayload } from '../../testing/payload';
import { outlineRows, expandAncestors } from './outlineRows';

vi.mock('../../graph/surface', async () => ({
  GraphSurface: (await import('../../testing/surface')).FakeSurface
}));
vi.mock(
  '../../graph/cards/cardSizer',
  async () => await import('../../testing/sizer')
);

guardConsole();

function tree(): HTMLElement {
  return screen.getByRole('tree', { name: 'Model hierarchy' });
}

function labels(): string[] {
  return within(tree())
    .getAllByRole('treeitem')
    .map(item => item.querySelector('.oad-Outline-label')?.textContent ?? '');
}

test('rows follow the expanded groups', () => {
  const model = buildTree(decodePayload(testPayload()));
  expect(outlineRows(model, new Set()).map(row => row.entity)).toEqual([5, 4]);
  const rows = outlineRows(model, new Set([0, 1]));
  expect(rows.map(row => row.entity)).toEqual([5, 6, 0, 1, 7, 4]);
  expect(rows[2]).toMatchObject({ level: 3, position: 1, siblings: 2 });
  expect([...expandAncestors(model, new Set(), 2)].sort()).toEqual([0, 2]);
  const open = new Set([0, 2]);
  expect(expandAncestors(model, open, 2)).toBe(open);
});

test('arrow keys expand, move and collapse; the graph follows', async () => {
  await mount(testPayload());
  // Initially expanded like the graph.
  expect(labels().slice(0, 3)).toEqual(['net', 'block.0', 'Conv']);
  const press = (name: string): void => {
    fireEvent.keyDown(tree(), { key: name });
  };
  press('Home');
  expect(surface().selection).toEqual([5]);
  press('ArrowRight');
  expect(surface().selection).toEqual([6]);
  press('ArrowLeft');
  expect(labels().slice(0, 3)).toEqual(['net', 'block.0', 'block.1']);
  press('ArrowLeft');
  expect(surface().selection).toEqual([5]);
  press('ArrowLeft');
  expect(labels()).toEqual(['net', 'Mystery']);
  press('ArrowRight');
  expect(labels().slice(0, 3)).toEqual(['net', 'block.0', 'block.1']);
  press('ArrowLeft');
  press('End');
  expect(surface().selection).toEqual([4]);
  expect(surface().zoomed).toContain(4);
});

test('the selection in the graph is shown in the tree', async () => {
  await mount(testPayload());
  act(() => surface().callbacks.onSelect?.(2, { additive: false }));
  await flushUpdates();
  const item = within(tree()).getByRole('treeitem', { selected: true });
  expect(item.textContent).toContain('Conv');
  expect(item.getAttribute('aria-level')).toBe('3');
  expect(tree().getAttribute('aria-activedescendant')).toBe(item.id);
});

test('rows show the cost of the heatmap', async () => {
  await mount(testPayload());
  const item = within(tree()).getByText('net').closest('[role=treeitem]');
  expect(item?.textContent).toMatch(/100.%/);
});
