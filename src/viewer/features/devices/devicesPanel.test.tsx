// @vitest-environment jsdom
import { act, fireEvent, screen, within } from '@testing-library/react';
import { describe, expect, test, vi } from 'vitest';
import type { GraphPayload } from '../../../schema';
import { withHardware } from '../../testing/hardware';
import { testPayload } from '../../testing/payload';
import {
  guardConsole,
  mount,
  flushUpdates,
  type IMounted
} from '../../testing/render';

vi.mock('../../graph/surface', async () => ({
  GraphSurface: (await import('../../testing/surface')).FakeSurface
}));
vi.mock(
  '../../graph/cards/cardSizer',
  async () => await import('../../testing/sizer')
);

guardConsole();

const plainSpaces = (text: string | null): string =>
  (text ?? '').replace(/\u00a0/g, ' ');

/** Without the node that has no time, which would be unknown everywhere. */
function withKnownPeaks(payload: GraphPayload): GraphPayload {
  const { hardware } = payload;
  const kernels = hardware!.kernels;
  const last = kernels.kind.length - 1;
  return {
    ...payload,
    hardware: {
      ...hardware!,
      kernels: {
        ...kernels,
        node: kernels.node.map(kernel => (kernel === last ? -1 : kernel)),
        kind: kernels.kind.slice(0, -1),
        anchor: kernels.anchor.slice(0, -1)
      }
    }
  };
}

async function open(payload: GraphPayload): Promise<IMounted> {
  const mounted = await mount(payload);
  fireEvent.click(screen.getByRole('tab', { name: 'Devices' }));
  await flushUpdates();
  return mounted;
}

const table = (): HTMLElement => screen.getByRole('table', { name: 'Devices' });
const cells = (): string[][] =>
  within(table())
    .getAllByRole('row')
    .slice(1)
    .map(row => [...row.children].map(cell => plainSpaces(cell.textContent)));
const column = (name: string): string[] => {
  const heads = within(table())
    .getAllByRole('columnheader')
    .map(head => head.textContent);
  return cells().map(row => row[heads.indexOf(name)]);
};

describe('the table of devices', () => {
  test('shows power, price and the cost of a million items', async () => {
    await open(withKnownPeaks(withHardware(testPayload())));
    expect(column('Power')).toEqual(['75 W', '—', '350.5 W']);
    expect(column('$/hour')).toEqual(['0.72', '—', '—']);
    // A batch in 200 µs, at the number of items per second shown in the table.
    const items = Number(column('Items/s')[0].replace(/ K$/, 'e3'));
    const cost = Number(column('$/M items')[0]);
    expect(cost / ((0.72 / 3600 / items) * 1e6)).toBeCloseTo(1, 1);
    const head = within(table()).getByRole('button', { name: 'Power' });
    fireEvent.click(head);
    expect(column('Power')).toEqual(['75 W', '350.5 W', '—']);
  });

  test('lists all devices; those without a rate for the precision come last', async () => {
    await open(withKnownPeaks(withHardware(testPayload())));
    // Two launches of 100 µs on the one, of 200 µs on the other; the chip has no fp32.
    expect(column('Device')).toEqual(['Acme Two', 'Acme One', 'Zeta Chip']);
    expect(column('Latency')).toEqual(['200 µs', '400 µs', '—']);
    expect(column('Likely range')).toEqual(['100–400 µs', '200–800 µs', '—']);
    expect(column('Bound by')).toEqual(['kernel starts', 'kernel starts', '—']);
    expect(column('Precision')).toEqual([
      'FP32',
      'FP32',
      'no stored precision'
    ]);
    expect(column('Fits')).toEqual(['fits', 'memory unknown', '']);
  });

  test('shows a lower bound without a range if a kernel is unknown', async () => {
    await open(withHardware(testPayload()));
    expect(column('Latency')[0]).toBe('≥ 200 µs');
    expect(column('Likely range')[0]).toBe('—');
    expect(column('Items/s')[0]).toMatch(/^≤ /);
  });

  test('sorts by any column in both directions; unknown last', async () => {
    await open(withKnownPeaks(withHardware(testPayload())));
    const sort = (name: string): void => {
      fireEvent.click(within(table()).getByRole('button', { name }));
    };
    sort('Latency');
    expect(column('Device')).toEqual(['Acme One', 'Acme Two', 'Zeta Chip']);
    const head = within(table()).getByRole('columnheader', { name: 'Latency' });
    expect(head.getAttribute('aria-sort')).toBe('descending');
    sort('Memory used');
    expect(column('Device')).toEqual(['Zeta Chip', 'Acme Two', 'Acme One']);
    sort('Device');
    expect(column('Device')).toEqual(['Acme One', 'Acme Two', 'Zeta Chip']);
  });

  test('a click selects the device in the precision of the table, and its badge stays', async () => {
    const { handle } = await open(withKnownPeaks(withHardware(testPayload())));
    await act(async () =>
      fireEvent.change(
        within(screen.getByRole('tabpanel')).getByRole('combobox', {
          name: 'Precision'
        }),
        { target: { value: 'fp16' } }
      )
    );
    expect(column('Precision')).toEqual(['FP16', 'FP16', 'no FP16']);
    const row = within(table()).getByRole('row', { name: /^Acme Two/ });
    await act(async () => fireEvent.click(row));
    await flushUpdates();
    expect(handle.getState()).toMatchObject({
      device: { device: 'acme-two', precision: 'fp16' },
      overlay: 'latency'
    });
    expect(within(row).getByRole('button').getAttribute('aria-pressed')).toBe(
      'true'
    );
    const totals = screen.getByRole('group', { name: 'Totals' });
    expect(within(totals).getByText('fits')).toBeTruthy();
  });

  test('marks devices with too little memory, sorts them last, and can hide them', async () => {
    const payload = withKnownPeaks(withHardware(testPayload()));
    const devices = {
      ...payload.hardware!.devices,
      memory_bytes: [null, 64, 24 * 2 ** 30]
    };
    await open({ ...payload, hardware: { ...payload.hardware!, devices } });
    expect(column('Device')).toEqual(['Acme One', 'Acme Two', 'Zeta Chip']);
    expect(column('Fits')[1]).toBe('does not fit');
    fireEvent.click(screen.getByRole('checkbox', { name: /too small/ }));
    expect(column('Device')).toEqual(['Acme One', 'Zeta Chip']);
    const [first] = within(table()).getAllByRole('row').slice(1);
    await act(async () => fireEvent.click(first));
    // The memory of this device is unknown, so there is no badge.
    const totals = screen.getByRole('group', { name: 'Totals' });
    expect(within(totals).queryByText('fits')).toBeNull();
  });

  test('filters by name, moves with arrow keys, and keeps the filter', async () => {
    await open(withKnownPeaks(withHardware(testPayload())));
    const filter = screen.getByRole('textbox', { name: 'Filter devices' });
    fireEvent.change(filter, { target: { value: 'acme' } });
    expect(column('Device')).toEqual(['Acme Two', 'Acme One']);
    const button = (name: string): HTMLElement =>
      within(table()).getByRole('button', { name });
    button('Acme Two').focus();
    fireEvent.keyDown(button('Acme Two'), { key: 'ArrowDown' });
    await flushUpdates();
    expect(document.activeElement).toBe(button('Acme One'));
    expect(button('Acme Two').tabIndex).toBe(-1);
    fireEvent.click(screen.getByRole('tab', { name: 'Memory' }));
    await flushUpdates();
    fireEvent.click(screen.getByRole('tab', { name: 'Devices' }));
    await flushUpdates();
    expect(column('Device')).toEqual(['Acme Two', 'Acme One']);
    fireEvent.change(screen.getByRole('textbox', { name: 'Filter devices' }), {
      target: { value: 'nothing' }
    });
    expect(screen.getByText('No matching devices.')).toBeTruthy();
  });

  test('shows that there is no device data', async () => {
    await open({ ...testPayload(), hardware: null });
    expect(screen.getByText('This file has no device data.')).toBeTruthy();
  });
});
