// @vitest-environment jsdom
import { act, fireEvent, screen, within } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { guardConsole, mount, flushUpdates } from '../../testing/render';
import { surface } from '../../testing/surface';
import { testPayload } from '../../testing/payload';

vi.mock('../../graph/surface', async () => ({
  GraphSurface: (await import('../../testing/surface')).FakeSurface
}));
vi.mock(
  '../../graph/cards/cardSizer',
  async () => await import('../../testing/sizer')
);

guardConsole();

async function open(blocks = 2): Promise<HTMLElement> {
  const { root } = await mount(testPayload({ blocks }));
  fireEvent.click(screen.getByRole('tab', { name: 'Layers' }));
  await flushUpdates();
  void root;
  return screen.getByRole('grid', { name: 'Layers' });
}

function names(grid: HTMLElement): string[] {
  return [...grid.querySelectorAll('.oad-Grid-row')].map(
    row => row.firstElementChild?.textContent ?? ''
  );
}

test('a click on a header sorts, the second reverses, the third ends sorting', async () => {
  const grid = await open();
  const head = within(grid).getByRole('columnheader', { name: 'MACs' });
  const button = within(head).getByRole('button');
  expect(head.getAttribute('aria-sort')).toBe('none');
  fireEvent.click(button);
  await flushUpdates();
  expect(head.getAttribute('aria-sort')).toBe('descending');
  expect(names(grid)).toEqual(['conv_1', 'conv_0', 'relu', 'relu', 'odd']);
  fireEvent.click(button);
  await flushUpdates();
  expect(head.getAttribute('aria-sort')).toBe('ascending');
  expect(names(grid)[4]).toBe('odd');
  fireEvent.click(button);
  await flushUpdates();
  expect(head.getAttribute('aria-sort')).toBe('none');
  expect(names(grid)[0]).toBe('conv_0');
});

test('filters limit the rows and the totals', async () => {
  const grid = await open();
  fireEvent.change(screen.getByRole('textbox', { name: 'Filter layers' }), {
    target: { value: 'conv' }
  });
  await flushUpdates();
  expect(names(grid)).toEqual(['conv_0', 'conv_1']);
  expect(screen.getByText('2 of 5 layers')).toBeTruthy();
  const foot = grid.querySelector('.oad-Grid-foot');
  expect(foot?.textContent).toContain('Total of 2 layers');
  fireEvent.change(screen.getByRole('combobox', { name: 'Operator type' }), {
    target: { value: 'Relu' }
  });
  await flushUpdates();
  expect(screen.getByText('No layer matches the filter.')).toBeTruthy();
});

test('a row selects the node in the graph, and vice versa', async () => {
  const grid = await open();
  fireEvent.click(within(grid).getByText('conv_1'));
  await flushUpdates();
  expect(surface().selection).toEqual([2]);
  expect(surface().zoomed).toContain(2);
  act(() => surface().callbacks.onSelect?.(0, { additive: false }));
  const row = grid.querySelector('[aria-selected="true"]');
  expect(row?.firstElementChild?.textContent).toBe('conv_0');
});

test('arrows, Home, End and page keys move the selection', async () => {
  const grid = await open(60);
  const press = (name: string): void => {
    fireEvent.keyDown(grid, { key: name });
  };
  press('ArrowDown');
  press('ArrowDown');
  expect(surface().selection).toEqual([1]);
  press('End');
  expect(surface().selection).toEqual([120]);
  press('ArrowDown');
  expect(surface().selection).toEqual([120]);
  press('Home');
  expect(surface().selection).toEqual([0]);
  press('PageDown');
  const [afterPageDown] = surface().selection;
  expect(afterPageDown).toBeGreaterThan(5);
  press('PageUp');
  expect(surface().selection).toEqual([0]);
});

test('a long table renders only the visible rows', async () => {
  const grid = await open(4000);
  expect(grid.getAttribute('aria-rowcount')).toBe('8003');
  expect(names(grid).length).toBeLessThan(60);
  grid.scrollTop = 24 * 6000;
  fireEvent.scroll(grid);
  await flushUpdates();
  const [first] = [...grid.querySelectorAll('.oad-Grid-row')];
  expect(Number(first.getAttribute('aria-rowindex'))).toBeGreaterThan(5900);
});

test('hovered and selected rows have exact numbers and reasons as titles', async () => {
  const grid = await open();
  const titles = (row: string): (string | null)[] => {
    const text = within(grid).getByText(row, { selector: 'bdi' });
    const cells = within(text.closest<HTMLElement>('.oad-Grid-row')!);
    return cells
      .getAllByRole('gridcell')
      .filter(cell => cell.classList.contains('oad-mod-number'))
      .map(cell => cell.getAttribute('title'));
  };
  expect(titles('conv_0').every(title => title === null)).toBe(true);
  const row = within(grid).getByText('conv_0').closest('.oad-Grid-row')!;
  fireEvent.pointerEnter(row);
  expect(titles('conv_0')).toContain('1,000');
  fireEvent.pointerLeave(row);
  expect(titles('conv_0')).not.toContain('1,000');
  fireEvent.keyDown(grid, { key: 'End' });
  await flushUpdates();
  expect(titles('odd').join()).toContain('no rule for vendor::Mystery');
});

test('copies the visible rows for a spreadsheet', async () => {
  await open();
  const writeText = vi.fn(() => Promise.resolve());
  vi.stubGlobal('navigator', { clipboard: { writeText } });
  fireEvent.click(screen.getByRole('button', { name: 'Copy' }));
  await flushUpdates();
  vi.unstubAllGlobals();
  expect(writeText).toHaveBeenCalledWith(
    expect.stringContaining('conv_0\tConv\tnet/block.0\t2×8\t2×8')
  );
});

test('Shift+click adds a column to the sort', async () => {
  const grid = await open(3);
  const head = (name: string): HTMLElement =>
    within(grid).getByRole('columnheader', { name });
  fireEvent.click(within(head('Operator')).getByRole('button'));
  fireEvent.click(within(head('MACs')).getByRole('button'), {
    shiftKey: true
  });
  await flushUpdates();
  expect(head('Operator').getAttribute('aria-sort')).toBe('ascending');
  expect(head('MACs').getAttribute('aria-sort')).toBe('descending');
  expect(names(grid).slice(0, 3)).toEqual(['conv_2', 'conv_1', 'conv_0']);
});

test('an expression filters; an invalid one shows its error', async () => {
  const grid = await open();
  const box = screen.getByRole('textbox', { name: 'Filter layers' });
  fireEvent.change(box, { target: { value: 'op=Conv & macs>1500' } });
  await flushUpdates();
  expect(names(grid)).toEqual(['conv_1']);
  fireEvent.change(box, { target: { value: 'op=Conv & cost>1500' } });
  await flushUpdates();
  expect(box.getAttribute('aria-invalid')).toBe('true');
  expect(screen.getByText(/Unknown field “cost”/)).toBeTruthy();
});

test('columns can be chosen and are saved', async () => {
  const { handle } = await mount(testPayload());
  fireEvent.click(screen.getByRole('tab', { name: 'Layers' }));
  await flushUpdates();
  fireEvent.click(screen.getByRole('checkbox', { name: 'FLOPs' }));
  await flushUpdates();
  expect(screen.queryByRole('columnheader', { name: 'FLOPs' })).toBeNull();
  const { table } = handle.getState() as { table: { columns: string[] } };
  expect(table.columns).toContain('macs');
  expect(table.columns).not.toContain('flops');
  fireEvent.click(screen.getByRole('button', { name: 'Reset columns' }));
  await flushUpdates();
  expect(screen.getByRole('columnheader', { name: 'FLOPs' })).toBeTruthy();
});

test('blocks show sums, expand, and select their box in the graph', async () => {
  await open();
  fireEvent.click(screen.getByRole('button', { name: 'By block' }));
  await flushUpdates();
  const grid = screen.getByRole('treegrid', { name: 'Layers' });
  expect(names(grid)).toEqual(['net4', 'odd']);
  const [net] = within(grid).getAllByRole('row', { expanded: false });
  expect(net.textContent).toContain('3.0\u00a0K'.replace('\u00a0', ' '));
  fireEvent.click(within(net).getByRole('button', { name: 'Open' }));
  await flushUpdates();
  expect(names(grid)).toEqual(['net4', 'block.02', 'block.12', 'odd']);
  fireEvent.click(within(grid).getByText('block.1'));
  await flushUpdates();
  expect(surface().selection).toEqual([7]);
  fireEvent.keyDown(grid, { key: 'ArrowRight' });
  expect(names(grid)).toContain('conv_1');
  fireEvent.keyDown(grid, { key: 'ArrowLeft' });
  expect(names(grid)).not.toContain('conv_1');
  // A layer selected in the graph: its block is expanded.
  act(() => surface().callbacks.onSelect?.(0, { additive: false }));
  await flushUpdates();
  expect(names(grid)).toContain('conv_0');
});

test('Space adds rows to the selection, Enter shows one in the graph', async () => {
  const grid = await open();
  fireEvent.keyDown(grid, { key: 'ArrowDown' });
  fireEvent.keyDown(grid, { key: 'ArrowDown', ctrlKey: true });
  fireEvent.keyDown(grid, { key: 'ArrowDown', ctrlKey: true });
  expect(surface().selection).toEqual([0]);
  fireEvent.keyDown(grid, { key: ' ' });
  expect(surface().selection).toEqual([0, 2]);
  fireEvent.keyDown(grid, { key: ' ' });
  expect(surface().selection).toEqual([0]);
  fireEvent.keyDown(grid, { key: 'Enter' });
  await flushUpdates();
  expect(surface().selection).toEqual([2]);
  expect(surface().zoomed.at(-1)).toBe(2);
});
