// @vitest-environment jsdom
import { act, fireEvent, screen, within } from '@testing-library/react';
import { describe, expect, test, vi } from 'vitest';
import { guardConsole, mount, flushUpdates } from '../testing/render';
import { surface } from '../testing/surface';
import { testPayload } from '../testing/payload';

vi.mock('../graph/surface', async () => ({
  GraphSurface: (await import('../testing/surface')).FakeSurface
}));
vi.mock(
  '../graph/cards/cardSizer',
  async () => await import('../testing/sizer')
);
const copied = vi.hoisted((): string[] => []);
vi.mock('../ui/clipboard', () => ({
  copyText: (text: string) => {
    copied.push(text);
    return Promise.resolve(true);
  }
}));

guardConsole();

function key(root: HTMLElement, name: string, init: KeyboardEventInit = {}) {
  fireEvent.keyDown(root, { key: name, code: '', ...init });
}

function select(entity: number, additive = false): void {
  act(() => surface().callbacks.onSelect?.(entity, { additive }));
}

const visibleNodes = (): number[] =>
  [...(surface().scene?.boxKind.keys() ?? [])]
    .filter(b => surface().scene!.boxKind[b] === 0)
    .map(b => surface().scene!.boxEntity[b])
    .sort((a, b) => a - b);

/** Nodes 0 → 1 → 2 → 3 → 4; see the payload. */
async function open() {
  const mounted = await mount(testPayload());
  key(mounted.root, 'e');
  await flushUpdates();
  return mounted;
}

const highlighted = (): number[] => {
  const { scene, highlight: marks } = surface();
  return [...(scene?.boxKind.keys() ?? [])]
    .filter(b => scene!.boxKind[b] === 0 && marks?.boxes[b])
    .map(b => scene!.boxEntity[b])
    .sort((a, b) => a - b);
};

describe('tracing', () => {
  test('A and Shift+A trace the tensors, Escape ends the trace before the selection', async () => {
    const { root } = await open();
    select(2);
    key(root, 'a');
    expect(highlighted()).toEqual([0, 1, 2]);
    expect(
      screen.getByText('3 of 5 nodes are upstream of conv_1')
    ).toBeTruthy();
    key(root, 'A', { shiftKey: true });
    expect(highlighted()).toEqual([2, 3, 4]);
    key(root, 'Escape');
    expect(surface().highlight).toBeNull();
    expect(surface().selection).toEqual([2]);
    key(root, 'Escape');
    expect(surface().selection).toEqual([]);
  });

  test('P shows the paths between two nodes, however many blocks are collapsed', async () => {
    const { root } = await open();
    select(1);
    select(3, true);
    key(root, 'p');
    expect(highlighted()).toEqual([1, 2, 3]);
    key(root, 'E', { shiftKey: true });
    await flushUpdates();
    expect(surface().highlight?.boxes.some(mark => mark === 1)).toBe(true);
    fireEvent.click(screen.getByRole('button', { name: 'End' }));
    expect(surface().highlight).toBeNull();
  });
});

describe('hiding', () => {
  test('X hides, the notice counts, Z shows all again', async () => {
    const { root, handle } = await open();
    select(1);
    select(2, true);
    key(root, 'x');
    await flushUpdates();
    expect(visibleNodes()).toEqual([0, 3, 4]);
    expect(screen.getByText('2 nodes hidden')).toBeTruthy();
    const state = JSON.parse(JSON.stringify(handle.getState()));
    expect(state.hidden).toEqual({ of: 'sha256:0', ranges: [1, 2] });
    key(root, 'z');
    await flushUpdates();
    expect(visibleNodes()).toEqual([0, 1, 2, 3, 4]);
    act(() => handle.setState(state));
    await flushUpdates();
    expect(visibleNodes()).toEqual([0, 3, 4]);
    key(root, 'Backspace');
    await flushUpdates();
  });

  test('Shift+X shows only the selection; Back restores the rest', async () => {
    const { root } = await open();
    select(2);
    key(root, 'X', { shiftKey: true });
    await flushUpdates();
    expect(visibleNodes()).toEqual([2]);
    key(root, 'Backspace');
    await flushUpdates();
    expect(visibleNodes()).toEqual([0, 1, 2, 3, 4]);
    key(root, 'ArrowRight', { altKey: true });
    await flushUpdates();
    expect(visibleNodes()).toEqual([2]);
  });

  test('nothing is hidden in another file', async () => {
    const hidden = { of: 'sha256:1', ranges: [0, 3] };
    await mount(testPayload(), {}, { state: { version: 1, hidden } });
    expect(screen.queryByText(/hidden/)).toBeNull();
  });
});

describe('several selected nodes', () => {
  test('are summed in the inspector, a block and its nodes once', async () => {
    const { root } = await open();
    act(() => surface().callbacks.onSelectArea?.([0, 2], { additive: false }));
    const panel = screen.getByRole('complementary', { name: 'Inspector' });
    expect(within(panel).getByText('2 boxes')).toBeTruthy();
    expect(within(panel).getByText('3,000')).toBeTruthy();
    expect(within(panel).getByText('2 / 5')).toBeTruthy();
    // Group 6 is block.0 with nodes 0 and 1.
    act(() => surface().callbacks.onSelectArea?.([6], { additive: true }));
    expect(within(panel).getByText('3 / 5')).toBeTruthy();
    expect(within(panel).getByText('3,000')).toBeTruthy();
    key(root, 'Escape');
    select(0);
    key(root, 's');
    expect([...surface().selection].sort()).toEqual([0, 2]);
    select(0, true);
    expect(surface().selection).toEqual([2]);
  });
});

describe('context menu', () => {
  const openMenu = (id: number): void =>
    act(() =>
      surface().callbacks.onContextMenu?.(
        { kind: 'entity', id },
        { x: 5, y: 5 }
      )
    );

  test('moves with arrow keys, runs with a click, closes with Escape', async () => {
    await open();
    openMenu(2);
    const menu = screen.getByRole('menu');
    const items = within(menu).getAllByRole('menuitem');
    expect(document.activeElement).toBe(items[0]);
    expect(surface().selection).toEqual([2]);
    fireEvent.keyDown(items[0], { key: 'ArrowUp' });
    expect(document.activeElement).toBe(items[items.length - 1]);
    fireEvent.keyDown(items[0], { key: 'h' });
    expect(document.activeElement?.textContent).toContain('Hide the selection');
    fireEvent.keyDown(document.activeElement!, { key: 'Escape' });
    expect(screen.queryByRole('menu')).toBeNull();
    expect(surface().selection).toEqual([2]);
    openMenu(2);
    fireEvent.click(
      screen.getByRole('menuitem', { name: /Hide the selection/ })
    );
    await flushUpdates();
    expect(visibleNodes()).toEqual([0, 1, 3, 4]);
    expect(screen.queryByRole('menu')).toBeNull();
  });

  test('ignores disabled entries and closes when it loses the focus', async () => {
    await open();
    openMenu(2);
    const paths = screen.getByRole('menuitem', { name: /paths/ });
    expect(paths.getAttribute('aria-disabled')).toBe('true');
    fireEvent.click(paths);
    expect(surface().highlight).toBeNull();
    fireEvent.blur(paths, { relatedTarget: document.body });
    expect(screen.queryByRole('menu')).toBeNull();
  });

  test('saves views and has no node to copy on the background', async () => {
    await open();
    act(() => surface().callbacks.onContextMenu?.(null, { x: 5, y: 5 }));
    expect(screen.queryByRole('menuitem', { name: /Copy the tag/ })).toBeNull();
    surface().camera = { x: 5, y: 6, k: 2 };
    fireEvent.click(screen.getByRole('menuitem', { name: /Save view 1/ }));
    surface().camera = { x: 0, y: 0, k: 1 };
    act(() => surface().callbacks.onContextMenu?.(null, { x: 5, y: 5 }));
    fireEvent.click(screen.getByRole('menuitem', { name: /Go to view 1/ }));
    await flushUpdates();
    expect(surface().camera).toEqual({ x: 5, y: 6, k: 2 });
  });
});

describe('links', () => {
  test('restore expanded blocks, selection and heatmap', async () => {
    const { decodeViewFragment } = await import('../state/viewFragment');
    const linkTo = (view: string): string => `http://h/#${view}`;
    const { root, unmount } = await mount(testPayload(), {}, { linkTo });
    key(root, 'e');
    await flushUpdates();
    select(2);
    select(4, true);
    key(root, 'h');
    key(root, 'L', { shiftKey: true });
    await vi.waitFor(() => expect(copied.length).toBe(1));
    const boxes = surface().scene?.boxCount;
    unmount();
    const state = await decodeViewFragment(new URL(copied[0]).hash);
    await mount(testPayload(), {}, { state, settings: { boxBudget: 1 } });
    expect(surface().scene?.boxCount).toBe(boxes);
    expect(surface().selection).toEqual([2, 4]);
    expect(
      screen.getByRole<HTMLSelectElement>('combobox', { name: 'Heatmap' }).value
    ).toBe('flops');
  });
});

describe('legend', () => {
  test('L cycles through three scales; the brush limits the range, Escape resets it', async () => {
    const { root } = await open();
    const scale = (): string =>
      screen.getByTitle(/Linear, logarithmic or ranked/).textContent ?? '';
    expect(scale()).toBe('linear');
    key(root, 'l');
    expect(scale()).toBe('log');
    key(root, 'l');
    expect(scale()).toBe('rank');
    key(root, 'l');
    expect(scale()).toBe('linear');
    expect(surface().overlay?.value(0)).toBeCloseTo(0.5, 6);
    const low = screen.getByRole('slider', { name: /Lower end/ });
    for (let i = 0; i < 14; i++) {
      fireEvent.keyDown(low, { key: 'ArrowRight' });
    }
    // 1000 of 2000 is now below the brush: a plain card.
    expect(surface().overlay?.value(0)).toBe(0);
    expect(surface().overlay?.value(2)).toBeGreaterThan(0);
    key(root, 'Escape');
    expect(surface().overlay?.value(0)).toBeCloseTo(0.5, 6);
    // Its ends are MACs and have no meaning for another metric.
    const brush = (): Element | null => root.querySelector('.oad-Brush-span');
    fireEvent.keyDown(low, { key: 'ArrowRight' });
    expect(brush()).not.toBeNull();
    const picker = screen.getByRole('combobox', { name: 'Heatmap' });
    fireEvent.change(picker, { target: { value: 'params' } });
    expect(brush()).toBeNull();
  });

  test('lists the top boxes and selects them', async () => {
    await open();
    fireEvent.click(screen.getByRole('button', { name: 'Heaviest 2' }));
    fireEvent.click(screen.getByRole('button', { name: 'conv_1' }));
    await flushUpdates();
    expect(surface().selection).toEqual([2]);
    expect(surface().zoomed).toContain(2);
  });
});
