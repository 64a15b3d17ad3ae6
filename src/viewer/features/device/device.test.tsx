// @vitest-environment jsdom
import { act, fireEvent, screen, within } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { START, withHardware } from '../../testing/hardware';
import { guardConsole, mount, flushUpdates } from '../../testing/render';
import { testPayload } from '../../testing/payload';
import { surface } from '../../testing/surface';
import { IDENTITY } from '../../i18n/translate';
import {
  bandText,
  bestMatch,
  memoryText,
  peakText,
  rangeText,
  vendorText
} from '../../summary/deviceText';

vi.mock('../../graph/surface', async () => ({
  GraphSurface: (await import('../../testing/surface')).FakeSurface
}));
vi.mock(
  '../../graph/cards/cardSizer',
  async () => await import('../../testing/sizer')
);

guardConsole();

const CHOOSE = 'Latency (choose a device…)';
const plainSpaces = (text: string | null): string =>
  (text ?? '').replace(/\u00a0/g, ' ');
const device = (root: HTMLElement): object =>
  within(root).queryByRole('dialog', { name: 'Device' })!;
const totals = (): HTMLElement => screen.getByRole('group', { name: 'Totals' });
const tile = (): string =>
  plainSpaces(
    within(totals()).getByText(/^Latency, /).parentElement!.textContent
  );

async function open(): Promise<void> {
  await act(async () => fireEvent.click(within(totals()).getByText(CHOOSE)));
}

async function choose(words: string): Promise<void> {
  const search = screen.getByRole('combobox', { name: 'Search devices' });
  await act(async () => fireEvent.change(search, { target: { value: words } }));
  await act(async () => fireEvent.keyDown(search, { key: 'Enter' }));
  await flushUpdates();
}

test('a device is found by name, chosen by keyboard, and colours the graph', async () => {
  const { root, handle } = await mount(withHardware(testPayload()));
  await open();
  const list = screen.getByRole('listbox', { name: 'Devices' });
  expect(within(list).getAllByRole('option')).toHaveLength(3);
  expect(
    within(list)
      .getAllByRole('group')
      .map(option => option.getAttribute('aria-label'))
  ).toEqual(['Acme', 'Zeta']);
  const search = screen.getByRole('combobox', { name: 'Search devices' });
  fireEvent.change(search, { target: { value: 'consumer ACME' } });
  const [option] = within(list).getAllByRole('option');
  expect(plainSpaces(option.textContent)).toBe(
    'Acme Two8 GiB10.0 TFLOP/s1.0 TB/s'
  );
  expect(search.getAttribute('aria-activedescendant')).toBe(option.id);
  await choose('consumer acme');
  expect(option.getAttribute('aria-selected')).toBe('true');
  // Two kernels have launch times, the third has no time.
  const times = [0, 2].map(node => surface().overlay!.text!(node));
  expect(times.map(plainSpaces)).toEqual(['100 µs', '100 µs']);
  expect(surface().overlay!.value(1)).toBe(0);
  expect(surface().overlay!.value(4)).toBeNaN();
  expect(tile()).toMatch(
    /^Latency, rough≥ 200 µs100–400 µs for the known kernels · best case 0.78 ns/
  );
  // Details for those who ask.
  expect(tile()).toContain(
    'Lower bound: 1 kernel with an unknown time is not included.'
  );
  expect(plainSpaces(screen.getByRole('dialog').textContent)).toContain(
    'Assumes a fusing runtime (TensorRT class). Uncertainty: ×0.5 … ×2 (rough).'
  );
  expect(handle.getState()).toMatchObject({
    device: { device: 'acme-two', precision: '' },
    overlay: 'latency'
  });
  await act(async () => fireEvent.keyDown(search, { key: 'Escape' }));
  expect(device(root)).toBeNull();
  // The legend names the device of the colours.
  const legend = screen.getByRole('group', { name: 'Heatmap legend' });
  expect(legend.textContent).toContain('Acme Two, FP32');
});

test('precisions are those of the device; no device removes the times', async () => {
  const { handle } = await mount(
    withHardware(testPayload(), 'acme-two', 'fp16')
  );
  expect(within(totals()).getByText('Acme Two, FP16')).toBeTruthy();
  await act(async () => fireEvent.click(within(totals()).getByText(/^Acme/)));
  const select = screen.getByRole<HTMLSelectElement>('combobox', {
    name: 'Precision'
  });
  expect([...select.options].map(option => option.textContent)).toEqual([
    'As stored: FP32',
    'FP32',
    'FP16'
  ]);
  await act(async () => fireEvent.change(select, { target: { value: '' } }));
  expect(within(totals()).getByText('Acme Two, FP32')).toBeTruthy();
  // A device without this precision says so and shows no number.
  await choose('zeta');
  expect(
    within(totals()).getByTitle(
      /^Latency: Zeta Chip has no published rate for the model/
    )
  ).toBeTruthy();
  expect(select.value).toBe('');
  await act(async () =>
    fireEvent.change(select, { target: { value: 'int8' } })
  );
  expect(tile()).toContain('order of magnitude');
  act(() => handle.setOverlay('latency'));
  await act(async () =>
    fireEvent.click(screen.getByRole('button', { name: 'None' }))
  );
  expect(handle.getState()).toMatchObject({ device: null, overlay: null });
  expect(within(totals()).queryByText(/^Latency, /)).toBeNull();
});

test('the runtime determines fused kernels, and is saved with the device', async () => {
  const payload = withHardware(testPayload(), 'acme-two', 'fp16');
  const hardware = payload.hardware!;
  const slow = {
    id: 'pytorch-eager',
    label: 'PyTorch, eager',
    overhead_s: START,
    overhead_cycles: 0,
    issue_s: 7 * START,
    compared: [],
    kernels: hardware.kernels
  };
  const { handle } = await mount({
    ...payload,
    hardware: { ...hardware, runtimes: [slow] }
  });
  expect(tile()).toContain('≥ 200 µs');
  await act(async () => fireEvent.click(within(totals()).getByText(/^Acme/)));
  const select = screen.getByRole<HTMLSelectElement>('combobox', {
    name: 'Runtime'
  });
  expect([...select.options].map(option => option.textContent)).toEqual([
    'TensorRT',
    'PyTorch, eager'
  ]);
  await act(async () =>
    fireEvent.change(select, { target: { value: 'pytorch-eager' } })
  );
  // The host launches two operators, 700 µs each; the third has no time.
  expect(tile()).toContain('≥ 1.4 ms');
  expect(tile()).toContain('Runtime assumed: PyTorch, eager.');
  expect(within(totals()).getByText(/PyTorch, eager$/)).toBeTruthy();
  const before = { device: 'acme-two', precision: 'fp16' };
  expect(handle.getState()).toMatchObject({
    device: { ...before, runtime: 'pytorch-eager' }
  });
  // Another device or precision keeps it.
  await choose('zeta');
  expect(handle.getState()).toMatchObject({
    device: { device: 'zeta-chip', runtime: 'pytorch-eager' }
  });
  await act(async () => fireEvent.change(select, { target: { value: '' } }));
  expect(tile()).toContain('Assumes a fusing runtime');
});

test('the heatmap of times asks for a device first', async () => {
  const { handle } = await mount(withHardware(testPayload()));
  const picker = screen.getByRole<HTMLSelectElement>('combobox', {
    name: 'Heatmap'
  });
  expect([...picker.options].map(option => option.textContent)).toContain(
    CHOOSE
  );
  await act(async () =>
    fireEvent.change(picker, { target: { value: 'latency' } })
  );
  expect(screen.getByRole('dialog', { name: 'Device' })).toBeTruthy();
  expect(handle.getState()).toMatchObject({ overlay: 'macs' });
  await act(async () => fireEvent.pointerDown(document.body));
  expect(screen.queryByRole('dialog')).toBeNull();
});

test('a payload without hardware data offers no devices', async () => {
  const { hardware: _, ...old } = testPayload();
  const { handle } = await mount(old as ReturnType<typeof testPayload>);
  expect(within(totals()).queryByText(CHOOSE)).toBeNull();
  const picker = screen.getByRole<HTMLSelectElement>('combobox', {
    name: 'Heatmap'
  });
  expect([...picker.options].map(option => option.value)).not.toContain(
    'latency'
  );
  act(() => handle.setOverlay('latency'));
  expect(handle.getState()).toMatchObject({ overlay: 'macs' });
});

test('a snapshot restores its device; an unknown one is reported', async () => {
  const payload = withHardware(testPayload(), 'acme-one');
  const { handle } = await mount(
    payload,
    {},
    {
      state: { version: 1, device: { device: 'acme-two', precision: 'fp16' } }
    }
  );
  expect(within(totals()).getByText('Acme Two, FP16')).toBeTruthy();
  await act(async () =>
    handle.setState({ version: 1, device: { device: 'gone', precision: '' } })
  );
  await flushUpdates();
  expect(within(totals()).getByTitle('Unknown device “gone”.')).toBeTruthy();
  await act(async () => handle.setState({ version: 1, device: null }));
  expect(within(totals()).getByText(CHOOSE)).toBeTruthy();
});

test('the settings set the device of a new view, unless the analysis has one', async () => {
  const settings = { device: 'zeta-chip', precision: 'int8' };
  const { unmount } = await mount(
    withHardware(testPayload()),
    {},
    { settings }
  );
  expect(within(totals()).getByText('Zeta Chip, INT8')).toBeTruthy();
  unmount();
  await mount(withHardware(testPayload(), 'acme-one'), {}, { settings });
  expect(within(totals()).getByText('Acme One, FP32')).toBeTruthy();
});

test('the settings set the runtime, also of a device chosen later in the view', async () => {
  const payload = withHardware(testPayload());
  const { kernels, model } = payload.hardware!;
  const { overhead_s, overhead_cycles, issue_s, compared } = model;
  const eager = {
    id: 'pytorch-eager',
    label: 'PyTorch, eager',
    source: '',
    kernels,
    overhead_s,
    overhead_cycles,
    issue_s,
    compared
  };
  const withRuntimes = {
    ...payload,
    hardware: { ...payload.hardware!, runtimes: [eager] }
  };
  const settings = {
    device: 'acme-two',
    precision: '',
    runtime: 'pytorch-eager'
  };
  const first = await mount(withRuntimes, {}, { settings });
  expect(document.body.textContent).toContain(
    'Runtime assumed: PyTorch, eager.'
  );
  first.unmount();
  // A device without an estimate in this model is ignored.
  const { unmount } = await mount(payload, {}, { settings });
  expect(document.body.textContent).toContain('Assumes a fusing runtime');
  unmount();
  await mount(withRuntimes, {}, { settings: { ...settings, device: '' } });
  fireEvent.click(within(totals()).getByText(CHOOSE));
  fireEvent.click(screen.getByRole('option', { name: /Acme Two/ }));
  expect(document.body.textContent).toContain(
    'Runtime assumed: PyTorch, eager.'
  );
});

test('the table sums the times; a fused layer names its kernel', async () => {
  const { handle } = await mount(withHardware(testPayload(), 'acme-two'));
  act(() => void handle.run('toggle-layers'));
  await flushUpdates();
  const heads = screen
    .getAllByRole('columnheader')
    .map(header => header.textContent);
  const [time, share] = [heads.indexOf('Latency'), heads.indexOf('% latency')];
  expect(time).toBeGreaterThan(0);
  const cells = (row: HTMLElement): HTMLElement[] =>
    within(row).getAllByRole('gridcell');
  const rows = screen.getAllByRole('row').slice(1);
  expect(plainSpaces(cells(rows[0])[time].textContent)).toBe('100 µs');
  expect(plainSpaces(cells(rows[0])[share].textContent)).toBe('50.0 %');
  expect(plainSpaces(cells(rows[1])[time].textContent)).toBe('0');
  fireEvent.pointerEnter(rows[1]);
  expect(cells(rows[1])[time].title).toBe('fused into conv_0');
  expect(plainSpaces(cells(rows[4])[time].textContent)).toBe('—');
  fireEvent.pointerEnter(rows[4]);
  expect(cells(rows[4])[time].title).toContain('unknown: ');
  const foot = rows[rows.length - 1];
  expect(plainSpaces(cells(foot)[time].textContent)).toBe('≥ 200 µs');
  expect(plainSpaces(cells(foot)[share].textContent)).toBe('≈ 100 %');
});

test('the inspector shows what bounds a kernel and the nodes fused into it', async () => {
  const { handle } = await mount(withHardware(testPayload(), 'acme-two'));
  act(() => handle.selectNodes([1]));
  await flushUpdates();
  const factText = (): string =>
    plainSpaces(screen.getByText('Kernel').parentElement!.textContent);
  expect(factText()).toContain('fused into conv_0');
  expect(factText()).toContain('launch-bound: launch 100 µs');
  act(() => handle.selectNodes([0]));
  await flushUpdates();
  expect(factText()).toContain('fused with relu');
  // For several, their sum.
  act(() => handle.selectNodes([0, 1, 2]));
  await flushUpdates();
  const sum = screen.getByText('Total costs').closest('details')!;
  expect(plainSpaces(sum.textContent)).toContain('Latency200 µs');
});

test('queries find layers by their latency', async () => {
  await mount(withHardware(testPayload(), 'acme-two'));
  const search = screen.getByPlaceholderText(/^Search names/);
  fireEvent.change(search, { target: { value: `latency>${START / 2}` } });
  await flushUpdates();
  expect(surface().hits).toEqual([0, 2]);
});

test('linked views are timed on one device', async () => {
  const left = await mount(withHardware(testPayload()));
  const right = await mount(withHardware(testPayload({ blocks: 3 })));
  act(() => void left.handle.link(right.handle));
  await flushUpdates();
  const choice = { device: 'acme-two', precision: 'fp16' };
  act(() => left.handle.setState({ version: 1, device: choice }));
  await flushUpdates();
  expect(right.handle.getState()).toMatchObject({ device: choice });
  expect(within(right.root).getByText('Acme Two, FP16')).toBeTruthy();
  // Both sums are incomplete, so their difference is unknown.
  const ownTile = within(left.root).getByText(/^Latency, /).parentElement!;
  expect(plainSpaces(ownTile.textContent)).toContain('vs B —');
  expect(
    ownTile.querySelector('[title*="totals is incomplete"]')
  ).not.toBeNull();
});

test('the chooser shows the unknown part of the latency and the memory needed', async () => {
  await mount(withHardware(testPayload(), 'acme-two'));
  await act(async () => fireEvent.click(within(totals()).getByText(/^Acme/)));
  const { textContent } = screen.getByRole('dialog', { name: 'Device' });
  expect(plainSpaces(textContent)).toContain(
    '≥ 200 µs (100–400 µs for the known kernels)'
  );
  expect(plainSpaces(textContent)).toContain('of 8.59 GB of memory.');
});

test('ranges, memory, rates and names are formatted', () => {
  expect(plainSpaces(rangeText(1.2e-3, 2.6e-3))).toBe('1.2–2.6 ms');
  expect(plainSpaces(rangeText(4.74e-4, 1.09e-3))).toBe('474 µs–1.09 ms');
  expect(memoryText(24 * 2 ** 30)).toBe('24 GiB');
  expect(memoryText(6.4 * 2 ** 30)).toBe('6.4 GiB');
  expect(memoryText(null)).toBe('—');
  expect(plainSpaces(peakText(165.2e12, 'fp16'))).toBe('165 TFLOP/s');
  expect(plainSpaces(peakText(660e12, 'int8'))).toBe('660 TOP/s');
  expect(peakText(null, 'fp8')).toBe('—');
  expect(vendorText('nvidia', IDENTITY)).toBe('NVIDIA');
  expect(vendorText('', IDENTITY)).toBe('Your own');
  const hardware = withHardware(testPayload()).hardware!;
  const names = {
    ...hardware.devices,
    name: ['Acme T4000', 'Acme T4', 'Zeta']
  };
  const likely = (query: string): number => bestMatch(names, [0, 1], query);
  expect(['t4', 'T4 acme', 't40', 'acme', ''].map(likely)).toEqual([
    1, 1, 0, 0, 0
  ]);
  expect(bestMatch(names, [], 't4')).toBe(-1);
  const choice = { device: 0, precision: 'fp32', uncompared: 0 };
  expect(bandText(hardware, choice)).toBe('×0.5 … ×2');
  expect(
    bandText(hardware, { device: 0, precision: 'tf32', uncompared: 0 })
  ).toBe('×0.4 … ×2.5');
  const narrow = {
    ...hardware,
    model: { ...hardware.model, bands: [{ low: 0.65, high: 1.5, label: '' }] }
  };
  expect(bandText(narrow, choice)).toBe('−35 % … +50 %');
});
