// @vitest-environment jsdom
import { act, fireEvent, screen, within } from '@testing-library/react';
import { describe, expect, test, vi } from 'vitest';
import type { GraphPayload } from '../../../schema';
import { factText, panel } from '../../testing/inspector';
import { testPayload } from '../../testing/payload';
import { guardConsole, mount, flushUpdates } from '../../testing/render';
import { surface } from '../../testing/surface';

vi.mock('../../graph/surface', async () => ({
  GraphSurface: (await import('../../testing/surface')).FakeSurface
}));
vi.mock(
  '../../graph/cards/cardSizer',
  async () => await import('../../testing/sizer')
);

guardConsole();

describe('grouped inputs', () => {
  /** Three inputs like the first one; `first` is the tensor of the first new one. */
  function withPast(): { payload: GraphPayload; first: number } {
    const payload = testPayload();
    const { tensors } = payload;
    const first = tensors.name.length;
    const template = tensors.inputs[0];
    for (let i = 0; i < 3; i++) {
      for (const column of ['kind', 'producer', 'dtype', 'shape'] as const) {
        const values = tensors[column] as number[];
        values.push(values[template]);
      }
      tensors.name.push(`past.${i}.key`);
      tensors.inputs.push(first + i);
    }
    return { payload, first };
  }

  const button = (name: string): HTMLElement | null =>
    within(panel()).queryByRole('button', { name });

  test('list each other', async () => {
    const { payload, first } = withPast();
    await mount(payload);
    act(() =>
      surface().callbacks.onSelectTensor?.(
        { kind: 'tensor', id: first },
        { activated: false }
      )
    );
    await flushUpdates();
    const list = within(panel()).getByText('Grouped inputs');
    expect(list.parentElement?.textContent).toContain('3');
    expect(panel().textContent).toContain('past.#.key');
    fireEvent.click(button('past.2.key')!);
    await flushUpdates();
    expect(surface().tensors).toEqual([first + 2]);
    expect(button('past.2.key')).toBeNull();
    expect(button('past.0.key')).toBeTruthy();
    fireEvent.click(button('Select all')!);
    await flushUpdates();
    expect(surface().tensors).toEqual([first, first + 1, first + 2]);
  });

  test('are selected together, summed, and can be picked one by one', async () => {
    const { payload, first } = withPast();
    const onSelection = vi.fn();
    const { handle } = await mount(payload, {}, { onSelection });
    act(() =>
      surface().callbacks.onSelectTensor?.(
        { kind: 'series', id: first },
        { activated: false }
      )
    );
    await flushUpdates();
    const names = [0, 1, 2].map(i => `past.${i}.key`);
    expect(onSelection).toHaveBeenLastCalledWith([], names);
    expect(surface().tensors).toEqual([first, first + 1, first + 2]);
    expect(factText('Tensors')).toBe('3');
    expect(factText('Shape of each')).toBe('2×8');
    // Three times 16 numbers of 4 bytes.
    expect(factText('Total size')).toBe('192 B');
    expect(screen.getByText('Selected: past.#.key ×3')).toBeTruthy();
    const snapshot = handle.getState();
    fireEvent.click(button('past.1.key 64 B')!);
    await flushUpdates();
    expect(onSelection).toHaveBeenLastCalledWith([], ['past.1.key']);
    expect(factText('Size')).toBe('64 B');
    act(() => handle.setState(snapshot));
    await flushUpdates();
    expect(onSelection).toHaveBeenLastCalledWith([], names);
  });

  test('have an unknown sum if one is unknown', async () => {
    const { payload, first } = withPast();
    payload.tensors.dtype[first + 1] = payload.tensors.dtype[first];
    payload.shapes[payload.tensors.shape[first]] = ['batch', 8];
    await mount(payload);
    act(() =>
      surface().callbacks.onSelectTensor?.(
        { kind: 'series', id: first },
        { activated: false }
      )
    );
    await flushUpdates();
    expect(factText('Total size')).toContain('a dimension has no value');
  });
});
