// @vitest-environment jsdom
import { act, fireEvent, screen, within } from '@testing-library/react';
import { describe, expect, test, vi } from 'vitest';
import { formatCount } from '../../core';
import { emptyPayload } from '../../core/testing/builder';
import type { FileState, IReportProvider } from '../../providers/provider';
import { ProblemError, localProblem } from '../../providers/provider';
import {
  guardConsole,
  mount,
  mountProvider,
  flushUpdates
} from '../testing/render';
import { surface } from '../testing/surface';
import { testPayload } from '../testing/payload';

vi.mock('../graph/surface', async () => ({
  GraphSurface: (await import('../testing/surface')).FakeSurface
}));
vi.mock(
  '../graph/cards/cardSizer',
  async () => await import('../testing/sizer')
);

guardConsole();

function key(root: HTMLElement, init: KeyboardEventInit): void {
  fireEvent.keyDown(root, { code: '', ...init });
}

describe('initial view', () => {
  test('shows totals, colours by MACs and draws the graph', async () => {
    const onTitle = vi.fn();
    await mount(testPayload(), {}, { onTitle });
    const totals = screen.getByRole('group', { name: 'Totals' });
    expect(
      within(totals).getByText(formatCount(3000).replace('\u00a0', ' '))
    ).toBeTruthy();
    expect(
      within(totals).getByRole('button', { pressed: true }).textContent
    ).toContain('MACs');
    expect(surface().scene?.boxCount).toBeGreaterThan(0);
    expect(surface().overlay).not.toBeNull();
    expect(onTitle).toHaveBeenCalledWith(
      'small.onnx',
      expect.stringContaining('5 nodes')
    );
  });

  test('explains a missing total', async () => {
    const payload = testPayload({
      dims: [
        {
          name: 'batch',
          value: null,
          assumed: false,
          suggested: 1,
          where: [],
          symbol: '',
          follows: null
        }
      ]
    });
    payload.metrics.total_macs = null;
    await mount(payload);
    const tile = screen.getByTitle(/^MACs: Unknown: depends on batch/);
    expect(tile.textContent).toContain('—');
  });

  test('shows that a graph is empty', async () => {
    const payload = testPayload();
    payload.nodes = emptyPayload('none').nodes;
    payload.tensors.producer = payload.tensors.producer.map(() => -1);
    await mount(payload);
    expect(screen.getByText('This graph has no nodes')).toBeTruthy();
  });
});

describe('loading and errors', () => {
  function failing(times: number): IReportProvider & { loads: number } {
    const payload = testPayload();
    return {
      exportName: 'small',
      loads: 0,
      load() {
        this.loads++;
        return this.loads <= times
          ? Promise.reject(
              new ProblemError(
                localProblem(
                  'not-a-model',
                  'This is not an ONNX model',
                  'small.onnx begins with “PK”.',
                  'Unpack it.',
                  422
                )
              )
            )
          : Promise.resolve(payload);
      },
      details: () => Promise.reject(new Error('unused'))
    };
  }

  test('shows the error and a hint, and retries', async () => {
    await mountProvider(failing(1));
    const alert = screen.getByRole('alert');
    expect(alert.textContent).toContain('This is not an ONNX model');
    expect(alert.textContent).toContain('small.onnx begins with “PK”.');
    expect(alert.textContent).toContain('Unpack it.');
    expect(alert.textContent).toContain('not-a-model');
    fireEvent.click(screen.getByRole('button', { name: 'Retry' }));
    await flushUpdates();
    expect(screen.queryByRole('alert')).toBeNull();
    expect(screen.getByRole('toolbar')).toBeTruthy();
  });

  test('shows the phase and progress, and can be cancelled', async () => {
    let aborted = false;
    await mountProvider({
      exportName: 'slow',
      load: (_options, onProgress, signal) =>
        new Promise((_resolve, reject) => {
          onProgress({ phase: 'shapes', done: 3, total: 12 });
          signal.addEventListener('abort', () => {
            aborted = true;
            reject(Object.assign(new Error('Aborted'), { name: 'AbortError' }));
          });
        }),
      details: () => Promise.reject(new Error('unused'))
    });
    expect(screen.getByText('Inferring shapes…')).toBeTruthy();
    expect(screen.getByRole('progressbar').getAttribute('aria-valuenow')).toBe(
      '25'
    );
    fireEvent.click(screen.getByRole('button', { name: 'Cancel' }));
    await flushUpdates();
    expect(aborted).toBe(true);
    expect(screen.getByText('The analysis was cancelled')).toBeTruthy();
    expect(screen.getByRole('button', { name: 'Start again' })).toBeTruthy();
  });

  test('keeps the graph if a second analysis fails', async () => {
    const provider = failing(0);
    const { handle } = await mountProvider(provider);
    provider.load = () => Promise.reject(new Error('gone'));
    act(() => handle.reload());
    await flushUpdates();
    expect(screen.getByRole('alert').textContent).toContain('gone');
    expect(screen.getByRole('toolbar')).toBeTruthy();
    fireEvent.click(
      screen.getByRole('button', { name: 'Keep the previous results' })
    );
    expect(screen.queryByRole('alert')).toBeNull();
  });

  test('offers to reload a file that changed', async () => {
    const provider = failing(0);
    let state: FileState = 'changed';
    provider.fileState = () => Promise.resolve(state);
    const { handle } = await mountProvider(provider);
    act(() => handle.checkFile());
    await flushUpdates();
    state = 'same';
    fireEvent.click(screen.getByRole('button', { name: 'Reload' }));
    await flushUpdates();
    expect(provider.loads).toBe(2);
    expect(screen.queryByText('The file has changed on disk.')).toBeNull();
  });

  test('shows that a file was deleted, whatever was shown before', async () => {
    const provider = failing(0);
    let state: FileState = 'changed';
    provider.fileState = () => Promise.resolve(state);
    const { handle } = await mountProvider(provider);
    const check = async (): Promise<void> => {
      act(() => handle.checkFile());
      await flushUpdates();
    };
    await check();
    expect(screen.queryByText('The file has changed on disk.')).toBeTruthy();
    state = 'gone';
    await check();
    expect(screen.queryByText('The file has changed on disk.')).toBeNull();
    expect(screen.queryByText(/no longer exists/)).toBeTruthy();
    expect(screen.queryByRole('button', { name: 'Reload' })).toBeNull();
    fireEvent.click(screen.getByRole('button', { name: 'Close' }));
    await check();
    expect(screen.queryByText(/no longer exists/)).toBeNull();
    state = 'changed';
    await check();
    expect(screen.queryByText('The file has changed on disk.')).toBeTruthy();
  });
});

describe('keyboard', () => {
  test('H cycles through the heatmaps, L through the scales', async () => {
    const { root } = await mount(testPayload());
    const picker = screen.getByRole<HTMLSelectElement>('combobox', {
      name: 'Heatmap'
    });
    expect(picker.value).toBe('macs');
    key(root, { key: 'h' });
    expect(picker.value).toBe('flops');
    key(root, { key: 'l' });
    expect(screen.getByRole('button', { name: 'log' })).toBeTruthy();
    for (let i = 0; i < 5; i++) {
      key(root, { key: 'H', shiftKey: false });
    }
    expect(picker.value).toBe('');
    expect(surface().overlay).toBeNull();
  });

  test('letters typed into the search box are text, Ctrl+F finds it', async () => {
    const { root } = await mount(testPayload());
    key(root, { key: 'f', ctrlKey: true });
    const box = screen.getByRole('textbox', { name: 'Find in the model' });
    expect(document.activeElement).toBe(box);
    fireEvent.keyDown(box, { key: 'h', code: 'KeyH' });
    expect(
      screen.getByRole<HTMLSelectElement>('combobox', { name: 'Heatmap' }).value
    ).toBe('macs');
  });

  test('F fits, E expands all, Shift+E collapses all', async () => {
    const { root } = await mount(
      testPayload(),
      {},
      { settings: { boxBudget: 1 } }
    );
    const closed = surface().scene?.boxCount ?? 0;
    key(root, { key: 'e' });
    await flushUpdates();
    expect(surface().scene?.boxCount).toBeGreaterThan(closed);
    key(root, { key: 'E', shiftKey: true });
    await flushUpdates();
    expect(surface().scene?.boxCount).toBe(closed);
    const before = surface().fitCalls;
    key(root, { key: 'f' });
    expect(surface().fitCalls).toBe(before + 1);
  });

  test('digits restore saved views', async () => {
    const { root } = await mount(testPayload());
    surface().camera = { x: 5, y: 6, k: 2 };
    key(root, { key: '!', code: 'Digit1', shiftKey: true });
    surface().camera = { x: 0, y: 0, k: 1 };
    key(root, { key: '1', code: 'Digit1' });
    expect(surface().camera).toEqual({ x: 5, y: 6, k: 2 });
  });

  test('? lists every key; Escape closes the list', async () => {
    const { root } = await mount(testPayload());
    key(root, { key: '?', shiftKey: true });
    const dialog = screen.getByRole('dialog');
    expect(within(dialog).getByText('Next heatmap')).toBeTruthy();
    key(root, { key: 'Escape' });
    expect(screen.queryByRole('dialog')).toBeNull();
  });
});

describe('selection', () => {
  test('a click in the graph opens the inspector; Backspace goes back', async () => {
    const { root } = await mount(testPayload());
    act(() => surface().callbacks.onSelect?.(0, { additive: false }));
    await flushUpdates();
    const panel = screen.getByRole('complementary', { name: 'Inspector' });
    expect(within(panel).getByText('conv_0')).toBeTruthy();
    surface().camera = { x: 1, y: 2, k: 3 };
    act(() => surface().callbacks.onSelect?.(2, { additive: false }));
    surface().camera = { x: 9, y: 9, k: 1 };
    act(() => surface().callbacks.onSelect?.(4, { additive: true }));
    expect(surface().selection).toEqual([2, 4]);
    key(root, { key: 'Backspace' });
    await flushUpdates();
    expect(surface().selection).toEqual([0]);
    expect(surface().camera).toEqual({ x: 1, y: 2, k: 3 });
    key(root, { key: 'ArrowRight', altKey: true });
    await flushUpdates();
    expect(surface().selection).toEqual([2, 4]);
    key(root, { key: 'ArrowLeft', altKey: true });
    await flushUpdates();
    expect(surface().selection).toEqual([0]);
    key(root, { key: 'Escape' });
    expect(surface().selection).toEqual([]);
  });

  test('a double click expands a block, a selected tensor stays highlighted', async () => {
    await mount(testPayload(), {}, { settings: { boxBudget: 1 } });
    const closed = surface().scene?.boxCount ?? 0;
    const group = 5;
    await act(async () =>
      surface().callbacks.onActivate?.(group, { recursive: false })
    );
    await flushUpdates();
    expect(surface().scene?.boxCount).toBeGreaterThan(closed);
    act(() =>
      surface().callbacks.onSelectTensor?.(
        { kind: 'tensor', id: 2 },
        { activated: false }
      )
    );
    expect(surface().tensors).toEqual([2]);
  });
});

describe('snapshots', () => {
  test('restore panels, overlay, expanded blocks and selection', async () => {
    const first = await mount(
      testPayload(),
      {},
      { settings: { boxBudget: 1 } }
    );
    key(first.root, { key: 'e' });
    await flushUpdates();
    act(() => surface().callbacks.onSelect?.(2, { additive: false }));
    key(first.root, { key: 'h' });
    key(first.root, { key: 't' });
    const boxes = surface().scene?.boxCount;
    const state = JSON.parse(JSON.stringify(first.handle.getState()));
    first.unmount();
    await mount(testPayload(), {}, { state, settings: { boxBudget: 1 } });
    expect(surface().scene?.boxCount).toBe(boxes);
    expect(surface().selection).toEqual([2]);
    expect(screen.getByRole('grid', { name: 'Layers' })).toBeTruthy();
    expect(
      screen.getByRole<HTMLSelectElement>('combobox', { name: 'Heatmap' }).value
    ).toBe('flops');
  });

  test('are ignored if invalid', async () => {
    await mount(
      testPayload(),
      {},
      {
        state: {
          version: 1,
          panels: 7,
          overlay: 'x',
          bindings: { a: -1 },
          open: [3],
          camera: { x: 'a' }
        }
      }
    );
    expect(screen.getByRole('toolbar')).toBeTruthy();
    expect(surface().scene?.boxCount).toBeGreaterThan(0);
  });
});
