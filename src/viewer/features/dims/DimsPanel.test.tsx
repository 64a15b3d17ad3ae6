// @vitest-environment jsdom
import { act, fireEvent, screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { formatCount } from '../../../core';
import fixture from '../../../core/testing/rebind.json';
import type { ILoadOptions } from '../../../providers/provider';
import type { DimInfo, GraphPayload } from '../../../schema';
import { guardConsole, mount, flushUpdates } from '../../testing/render';
import { surface } from '../../testing/surface';
import { SYMBOL, testPayload } from '../../testing/payload';
import { parseSize } from '../../summary/dimTexts';

vi.mock('../../graph/surface', async () => ({
  GraphSurface: (await import('../../testing/surface')).FakeSurface
}));
vi.mock(
  '../../graph/cards/cardSizer',
  async () => await import('../../testing/sizer')
);

guardConsole();

/** As from a server: MACs grow with the batch, and are unknown without one. */
function analysed({ bindings, assume }: ILoadOptions): GraphPayload {
  const bound = Object.hasOwn(bindings, 'batch') ? bindings.batch : null;
  const value = bound ?? (assume ? SYMBOL.suggested : null);
  const payload = testPayload({
    dims: [{ ...SYMBOL, value, assumed: bound === null && value !== null }]
  });
  payload.metrics.total_macs = value === null ? null : 1_000_000 * value;
  return payload;
}

function box(): HTMLInputElement {
  return screen.getByRole<HTMLInputElement>('textbox', { name: 'batch' });
}

function macs(): string {
  const tile = screen.getByTitle(/^MACs: /);
  return tile.querySelector('.oad-Kpi-value')?.textContent ?? '';
}

test('an assumed value is marked until it is confirmed', async () => {
  const { provider } = await mount(testPayload(), { reload: analysed });
  const chip = screen.getByTitle(/Some values are assumed/);
  expect(chip.textContent).toContain('batch = 2');
  expect(chip.textContent).toContain('assumed');
  fireEvent.click(chip);
  expect(box().value).toBe('2');
  expect(screen.getByText('assumed – confirm or change')).toBeTruthy();
  fireEvent.click(screen.getByRole('button', { name: 'Confirm' }));
  await flushUpdates();
  expect(provider.loads).toEqual([
    { bindings: {}, assume: true },
    { bindings: { batch: 2 }, assume: false }
  ]);
  expect(screen.queryByText('assumed')).toBeNull();
});

/** Two independent dimensions, and one that is their sum. */
const THREE: readonly DimInfo[] = [
  SYMBOL,
  { ...SYMBOL, name: 'past', value: 0, suggested: 0 },
  {
    ...SYMBOL,
    name: 'total',
    follows: { factors: { batch: 1, past: 1 }, plus: 0 }
  }
];

/**
 * As from a server: sizes that are not given are assumed, and a dimension that follows counts as given if
 * the others are.
 */
function analysedThree({ bindings, assume }: ILoadOptions): GraphPayload {
  const bound = new Map(Object.entries(bindings));
  const sizeOf = (dim: DimInfo): number | null =>
    bound.get(dim.name) ?? (assume ? dim.suggested : null);
  const [batch, past] = THREE.map(sizeOf);
  const sizes = [batch, past, (batch ?? 0) + (past ?? 0)];
  return testPayload({
    dims: THREE.map((dim, index) => ({
      ...dim,
      value: sizes[index],
      assumed: assume && index < 2 && !bound.has(dim.name)
    }))
  });
}

test('changing one dimension keeps the marks of the others and updates those that depend on it', async () => {
  const { provider } = await mount(testPayload({ dims: THREE }), {
    reload: analysedThree
  });
  fireEvent.click(screen.getByTitle(/Some values are assumed/));
  const total = screen.getByRole<HTMLInputElement>('textbox', {
    name: 'total'
  });
  expect(total.readOnly).toBe(true);
  expect(screen.getByText('moves with batch, past')).toBeTruthy();
  fireEvent.change(box(), { target: { value: '8' } });
  expect(total.value).toBe('8');
  fireEvent.submit(box());
  await flushUpdates();
  expect(provider.loads.at(-1)).toEqual({
    bindings: { batch: 8 },
    assume: true
  });
  expect(screen.getAllByText('assumed – confirm or change')).toHaveLength(1);
  fireEvent.click(screen.getByRole('button', { name: 'Confirm' }));
  await flushUpdates();
  expect(provider.loads.at(-1)).toEqual({
    bindings: { batch: 8, past: 0, total: 8 },
    assume: false
  });
});

test('a dimension without a typical value has an empty field', async () => {
  await mount(
    testPayload({
      dims: [{ ...SYMBOL, value: null, assumed: false, suggested: null }]
    })
  );
  fireEvent.click(screen.getByTitle(/Values of the symbolic dimensions/));
  expect(box().placeholder).toBe('');
  expect(screen.getByText('stays a symbol')).toBeTruthy();
});

test('a new value updates every number and keeps the view', async () => {
  const { root } = await mount(
    testPayload(),
    { reload: analysed },
    { settings: { boxBudget: 1 } }
  );
  fireEvent.keyDown(root, { key: 'e', code: 'KeyE' });
  await flushUpdates();
  act(() => surface().callbacks.onSelect?.(2, { additive: false }));
  surface().camera = { x: 10, y: 20, k: 0.5 };
  const boxes = surface().scene?.boxCount;
  fireEvent.keyDown(root, { key: 'b', code: 'KeyB' });
  fireEvent.change(box(), { target: { value: '8' } });
  fireEvent.submit(box());
  await flushUpdates();
  expect(macs()).toBe(formatCount(8e6));
  expect(surface().selection).toEqual([2]);
  expect(surface().scene?.boxCount).toBe(boxes);
  expect(surface().camera).toEqual({ x: 10, y: 20, k: 0.5 });
  expect(box().value).toBe('8');
});

test('reset restores the symbols', async () => {
  const { provider } = await mount(testPayload(), { reload: analysed });
  fireEvent.click(screen.getByTitle(/Some values are assumed/));
  fireEvent.click(screen.getByRole('button', { name: 'Clear values' }));
  await flushUpdates();
  expect(provider.loads[1]).toEqual({ bindings: {}, assume: false });
  expect(macs()).toBe('—');
  expect(box().value).toBe('');
});

test('an invalid size is rejected', async () => {
  const { provider } = await mount(testPayload(), { reload: analysed });
  fireEvent.click(screen.getByTitle(/Some values are assumed/));
  for (const text of ['-3', '1.5', 'abc', '1e3', '99999999999999']) {
    fireEvent.change(box(), { target: { value: text } });
    expect(box().getAttribute('aria-invalid')).toBe('true');
    const apply = screen.getByRole<HTMLButtonElement>('button', {
      name: 'Apply'
    });
    expect(apply.disabled).toBe(true);
    fireEvent.submit(box());
  }
  expect(provider.loads).toHaveLength(1);
  expect(parseSize(' 12 ')).toBe(12);
});

test('a model without symbols shows that it has none', async () => {
  await mount(testPayload({ dims: [] }));
  fireEvent.click(screen.getByRole('tab', { name: 'Dimensions' }));
  expect(screen.getByText(/no symbolic dimension/)).toBeTruthy();
});

const fixed = fixture.fixed.payload as unknown as GraphPayload;

/** As from a server: the batch offer is requested separately. */
const analysedFixed: GraphPayload = { ...fixed, batch: null };

test('a fixed batch size is requested when the tab opens, and gets a slider', async () => {
  const batch = vi.fn(() =>
    Promise.resolve({ offer: fixed.batch, reason: '' })
  );
  const { provider } = await mount(analysedFixed, { batch });
  expect(batch).not.toHaveBeenCalled();
  fireEvent.click(screen.getByRole('tab', { name: /Dimensions/ }));
  await flushUpdates();
  expect(batch).toHaveBeenCalledTimes(1);
  expect(screen.getByText('not in the file')).toBeTruthy();
  expect(box().value).toBe('1');
  const before = macs();
  fireEvent.change(box(), { target: { value: '8' } });
  fireEvent.click(screen.getByRole('button', { name: 'Apply' }));
  await flushUpdates();
  const expected = fixture.fixed.cases.find(({ batch }) => batch === 8)!;
  expect(macs()).toBe(formatCount(expected.metrics.total_macs));
  expect(macs()).not.toBe(before);
  fireEvent.click(screen.getByRole('tab', { name: 'Layers' }));
  fireEvent.click(screen.getByRole('tab', { name: /Dimensions/ }));
  await flushUpdates();
  expect(batch).toHaveBeenCalledTimes(1);
  expect(provider.loads).toHaveLength(1);
});

test('the reason for a fixed batch size is shown', async () => {
  const reason = 'MatMul m: items would meet';
  await mount(analysedFixed, {
    batch: () => Promise.resolve({ offer: null, reason })
  });
  fireEvent.click(screen.getByRole('tab', { name: /Dimensions/ }));
  expect(screen.getByText(/Following the batch/)).toBeTruthy();
  await flushUpdates();
  expect(screen.getByText(/items would meet/)).toBeTruthy();
  expect(screen.queryByRole('textbox', { name: 'batch' })).toBeNull();
});

test('a failed request for the batch size does not change the tab', async () => {
  const { root } = await mount(analysedFixed, {
    batch: () => Promise.reject(new Error('the server is gone'))
  });
  fireEvent.click(screen.getByRole('tab', { name: /Dimensions/ }));
  await flushUpdates();
  expect(screen.getByText(/no symbolic dimension/)).toBeTruthy();
  expect(root.isConnected).toBe(true);
});

test('a fixed batch size has a slider that needs no new analysis', async () => {
  const { provider } = await mount(fixed);
  fireEvent.click(screen.getByRole('tab', { name: /Dimensions/ }));
  expect(screen.getByText('not in the file')).toBeTruthy();
  expect(box().value).toBe('1');
  expect(screen.queryByRole('button', { name: 'Clear values' })).toBeNull();
  const before = macs();
  fireEvent.change(box(), { target: { value: '8' } });
  fireEvent.click(screen.getByRole('button', { name: 'Apply' }));
  await flushUpdates();
  const expected = fixture.fixed.cases.find(({ batch }) => batch === 8)!;
  expect(macs()).toBe(formatCount(expected.metrics.total_macs));
  expect(macs()).not.toBe(before);
  expect(screen.getByText('not in the file')).toBeTruthy();
  fireEvent.change(box(), { target: { value: '1' } });
  fireEvent.click(screen.getByRole('button', { name: 'Apply' }));
  await flushUpdates();
  expect(macs()).toBe(before);
  expect(provider.loads).toHaveLength(1);
});
