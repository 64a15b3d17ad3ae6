// @vitest-environment jsdom
import { act, fireEvent, screen, within } from '@testing-library/react';
import { beforeAll, expect, test, vi } from 'vitest';
import type { IReportProvider } from '../../../providers/provider';
import { ProblemError, localProblem } from '../../../providers/provider';
import type { TaskResult } from '../../../schema';
import { testPayload } from '../../testing/payload';
import { guardConsole, mount, flushUpdates } from '../../testing/render';

vi.mock('../../graph/surface', async () => ({
  GraphSurface: (await import('../../testing/surface')).FakeSurface
}));
vi.mock(
  '../../graph/cards/cardSizer',
  async () => await import('../../testing/sizer')
);

guardConsole();

// Preloads lazy code.
beforeAll(async () => {
  await import('../../tasks/serverWork');
});

const EMPTY: TaskResult = {
  lines: [],
  label: '',
  unit: '',
  values: {},
  layers: [],
  path: '',
  times: null,
  verification: null,
  kernels: null,
  accuracies: []
};
const kernel = (node: number, ms: number) => ({
  node,
  nodes: [node],
  name: `layer ${node}`,
  op: 'Conv',
  ms,
  conversion_ms: 0
});
const TIMES: TaskResult = {
  ...EMPTY,
  lines: ['Kernel time: 1 ms.'],
  label: 'Measured latency in ms',
  unit: 'ms',
  values: { 0: 0.5, 1: 0.25 },
  times: {
    source: 't.json',
    total_ms: 1,
    attributed_ms: 0.75,
    kernels: [kernel(0, 0.5), kernel(1, 0.25)],
    lost: [{ name: 'memcpy', ms: 0.25 }]
  }
};
const layer = (node: number, error: number | null, diverges: boolean) => ({
  node,
  name: `layer ${node}`,
  op: 'Conv',
  tensor: `t${node}`,
  reference_tensor: `r${node}`,
  error,
  sqnr_db: 20,
  error_before: 0.01,
  diverges
});
const VERIFIED: TaskResult = {
  ...EMPTY,
  label: 'Relative error',
  values: { 0: 0.01, 1: 0.5 },
  verification: {
    reference: 'r.onnx',
    verdict: 'diverges',
    tolerance: 0.1,
    first: 1,
    layers: [layer(0, 0.01, false), layer(1, 0.5, true)]
  }
};

type Profile = NonNullable<IReportProvider['profile']>;

const files = (...names: string[]) => names.map(name => new File(['{}'], name));

/** Drags files over the viewer and drops them. */
async function drop(root: HTMLElement, files: File[]): Promise<boolean> {
  const dataTransfer = { types: ['Files'], files: files, dropEffect: '' };
  fireEvent.dragEnter(root, { dataTransfer });
  await flushUpdates();
  fireEvent.dragOver(root, { dataTransfer });
  expect(root.hasAttribute('data-drop')).toBe(true);
  const isAccepted = !fireEvent.drop(root, { dataTransfer });
  await flushUpdates();
  expect(root.hasAttribute('data-drop')).toBe(false);
  return isAccepted;
}

const cells = (table: HTMLElement) =>
  within(table)
    .getAllByRole('row')
    .slice(1)
    .map(row =>
      within(row)
        .getAllByRole('cell')
        .map(cell => cell.textContent)
    );

test('dropped files colour the graph, and unmatched entries are reported', async () => {
  const profile = vi.fn<Profile>(async () => TIMES);
  const task = vi.fn();
  const { root } = await mount(testPayload(), { profile, task });
  expect(await drop(root, files('t.json', 'layers.json'))).toBe(true);
  const [sent] = profile.mock.calls[0];
  expect(sent.map(file => (file as File).name)).toEqual([
    't.json',
    'layers.json'
  ]);
  const table = screen.getByRole('table', { name: /^Kernels/ });
  expect(cells(table)).toEqual([
    ['layer 0', 'Conv', '500 µs', '50.0 %', '1'],
    ['layer 1', 'Conv', '250 µs', '25.0 %', '1'],
    ['memcpy', 'no node', '250 µs', '25.0 %', '—']
  ]);
  expect(screen.getByRole('tabpanel').textContent).toContain(
    '25.0 % of the time (250 µs) belongs to no node'
  );
  fireEvent.click(screen.getByRole('button', { name: 'layer 1' }));
  expect(root.querySelector('.oad-Inspector')).toBeTruthy();
  // Dropped again, it is read only once.
  await drop(root, files('t.json'));
  expect(profile).toHaveBeenCalledTimes(2);
});

test('a notebook has no tab and shows the result in a notice', async () => {
  const profile = vi.fn<Profile>(async () => TIMES);
  const { root } = await mount(testPayload(), { profile });
  await drop(root, files('t.json'));
  expect(
    screen.getByText(
      'Kernel time: 1 ms. Not attributed to a node: memcpy 250 µs.'
    )
  ).toBeTruthy();
  expect(screen.queryByRole('tab', { name: 'Run' })).toBeNull();
  const problem = localProblem('bad-profile', 'a', 'It is none.', 'Give one.');
  profile.mockRejectedValue(new ProblemError(problem));
  await drop(root, files('t.json'));
  expect(screen.getByText('It is none. Give one.')).toBeTruthy();
});

test('a drop shows a notice if profiles cannot be read', async () => {
  const { root, handle } = await mount(testPayload());
  expect(await drop(root, files('t.json'))).toBe(true);
  expect(screen.getByText(/^Profiles are read by a server/)).toBeTruthy();
  expect(handle.run('open-profile')).toBe(true);
  handle.startTask({ kind: 'verify', against: '/r.onnx' });
  await flushUpdates();
  expect(screen.getByText(/^Models are run by a server/)).toBeTruthy();
});

test('a profile can be chosen by keyboard', async () => {
  const profile = vi.fn<Profile>(async () => TIMES);
  const click = vi
    .spyOn(HTMLInputElement.prototype, 'click')
    .mockImplementation(function (this: HTMLInputElement) {
      Object.defineProperty(this, 'files', { value: files('t.csv') });
      this.dispatchEvent(new Event('change'));
    });
  const { handle } = await mount(testPayload(), { profile, task: vi.fn() });
  handle.run('open-profile');
  await flushUpdates();
  expect(click).toHaveBeenCalledOnce();
  expect(screen.getByRole('table', { name: /^Kernels/ })).toBeTruthy();
});

test('a verification selects the first layer that diverges', async () => {
  const task = vi.fn(async () => VERIFIED);
  const { handle, root } = await mount(testPayload(), { task });
  act(() => handle.startTask({ kind: 'verify', against: '/models/r.onnx' }));
  await flushUpdates();
  expect(task).toHaveBeenCalledWith(
    { kind: 'verify', against: '/models/r.onnx', data: '' },
    expect.anything(),
    expect.anything()
  );
  expect(handle.selectedNodes()).toEqual([1]);
  const table = screen.getByRole('table', { name: /^Layers compared/ });
  const first = [
    'layer 1',
    'Conv',
    '0.50',
    '0.010',
    '20.0',
    '✗ diverges first'
  ];
  expect(cells(table)[0]).toEqual(first);
  fireEvent.click(screen.getByRole('checkbox', { name: /^Largest/ }));
  expect(cells(table)[1]).toEqual(first);
  const named = { name: 'Reference' };
  expect(screen.getByRole<HTMLInputElement>('textbox', named).value).toBe(
    '/models/r.onnx'
  );
  expect(root.textContent).toContain('Relative error');
});
