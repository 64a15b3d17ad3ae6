// @vitest-environment jsdom
import { fireEvent, screen } from '@testing-library/react';
import { describe, expect, test, vi } from 'vitest';
import { decodeViewFragment, encodeViewFragment } from '../state/viewFragment';
import { readSnapshot } from '../state/snapshot';
import { guardConsole, mount, flushUpdates } from '../testing/render';
import { surface } from '../testing/surface';
import { testPayload } from '../testing/payload';
import { chainPayload } from '../../core/testing/payloads';

vi.mock('../graph/surface', async () => ({
  GraphSurface: (await import('../testing/surface')).FakeSurface
}));
vi.mock(
  '../graph/cards/cardSizer',
  async () => await import('../testing/sizer')
);

guardConsole();

const direction = () => surface().scene?.direction;
const inRows = () => surface().scene?.inRows;

async function press(root: HTMLElement, key: string): Promise<void> {
  fireEvent.keyDown(root, { key, code: '' });
  await flushUpdates();
}

/** A model whose only row is far too long for a pane. */
const long = () => chainPayload(60);

describe('flow of the graph', () => {
  test('cycles with K and the toolbar: automatic, one row, top to bottom, rows', async () => {
    const { root, handle } = await mount(long());
    const flow = () => readSnapshot(handle.getState()).direction ?? 'auto';
    expect([flow(), direction(), inRows()]).toEqual(['auto', 'right', true]);
    await press(root, 'k');
    expect([flow(), direction(), inRows()]).toEqual(['right', 'right', false]);
    await press(root, 'k');
    expect([flow(), direction(), inRows()]).toEqual(['down', 'down', false]);
    fireEvent.click(screen.getByRole('button', { name: /top to bottom/ }));
    await flushUpdates();
    expect([flow(), direction(), inRows()]).toEqual(['wrapped', 'right', true]);
    await press(root, 'k');
    expect(flow()).toBe('auto');
  });

  test('is one row if the graph fits', async () => {
    await mount(chainPayload(3));
    expect([direction(), inRows()]).toEqual(['right', false]);
  });

  test('is initialised from the settings', async () => {
    await mount(testPayload(), {}, { settings: { direction: 'down' } });
    expect(direction()).toBe('down');
  });

  test('is restored with its rows from a snapshot or link', async () => {
    const { root, handle } = await mount(long());
    await press(root, 'k');
    await press(root, 'k');
    await press(root, 'k');
    const state = readSnapshot(handle.getState());
    expect(state.direction).toBe('wrapped');
    expect(state.rows?.room).toBeGreaterThan(400);
    const { text } = await encodeViewFragment(state);
    const linked = await decodeViewFragment(`#${text}`);
    expect(linked?.direction).toBe('wrapped');
    expect(linked?.rows).toEqual(state.rows);
    const width = surface().scene?.width;
    await press(root, 'k');
    await press(root, 'k');
    expect(surface().scene?.width).not.toBe(width);
    handle.setState(state);
    await flushUpdates();
    expect(surface().scene?.width).toBe(width);
  });

  test('is restored by Back and saved views', async () => {
    const { root } = await mount(
      long(),
      {},
      { settings: { direction: 'right' } }
    );
    fireEvent.keyDown(root, { key: '1', code: 'Digit1', ctrlKey: true });
    await press(root, 'k');
    expect(direction()).toBe('down');
    fireEvent.keyDown(root, { key: '1', code: 'Digit1' });
    await flushUpdates();
    expect([direction(), inRows()]).toEqual(['right', false]);
    await press(root, 'Backspace');
    expect(direction()).toBe('down');
  });

  test('keeps the row width of a saved view', async () => {
    const { root, handle } = await mount(long());
    const { rows } = readSnapshot(handle.getState());
    const wide = {
      ...readSnapshot(handle.getState()),
      rows: { room: 3000, beside: 0.2 }
    };
    handle.setState(wide);
    await flushUpdates();
    expect(readSnapshot(handle.getState()).rows).toEqual(wide.rows);
    fireEvent.keyDown(root, { key: '1', code: 'Digit1', ctrlKey: true });
    await press(root, 'o');
    expect(readSnapshot(handle.getState()).rows).toEqual(rows);
    fireEvent.keyDown(root, { key: '1', code: 'Digit1' });
    await flushUpdates();
    expect(readSnapshot(handle.getState()).rows).toEqual(wide.rows);
  });

  test('ignores invalid values in a snapshot', () => {
    const read = (raw: object) => readSnapshot({ version: 1, ...raw });
    expect(read({ direction: 'sideways' }).direction).toBeUndefined();
    for (const rows of [
      3,
      { room: 'wide', beside: 0.4 },
      { room: -1, beside: 0 }
    ]) {
      expect(read({ rows }).rows).toBeUndefined();
    }
    expect(read({ rows: null }).rows).toBeNull();
    const rows = { room: 900, beside: 0.2 };
    expect(read({ rows: { ...rows, compact: 'yes' } }).rows).toEqual(rows);
    const short = { ...rows, compact: true };
    expect(read({ rows: short }).rows).toEqual(short);
  });
});
