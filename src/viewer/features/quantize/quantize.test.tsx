// @vitest-environment jsdom
import { act, fireEvent, screen, within } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import type { IReportProvider } from '../../../providers/provider';
import {
  ProblemError,
  abortError,
  localProblem
} from '../../../providers/provider';
import type { Task, TaskResult } from '../../../schema';
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

type Run = NonNullable<IReportProvider['task']>;

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
const RANKED: TaskResult = {
  ...EMPTY,
  lines: ['8 samples, synthetic.'],
  label: 'Error if quantized alone',
  values: { 0: 0.5, 1: 0.25 },
  layers: ['first', 'second'].map((name, node) => ({
    node,
    name,
    op: 'Conv',
    tensor: `t${node}`,
    error: 0.5 / (node + 1),
    sqnr_db: node ? null : 6.02,
    agreement: node ? null : 0.75,
    keep: node === 0
  }))
};

const running = (more: Partial<Task> = {}): Task => ({
  id: '1',
  kind: 'sensitivity',
  state: 'running',
  step: 'layers',
  done: 3,
  total: 54,
  problem: null,
  result: null,
  ...more
});

async function opened(task?: Run): Promise<void> {
  await mount(testPayload(), { task });
}

async function panel(): Promise<HTMLElement> {
  fireEvent.click(screen.getByRole('tab', { name: 'Quantize' }));
  await flushUpdates();
  return screen.getByRole('tabpanel');
}

const press = async (name: string): Promise<void> => {
  fireEvent.click(screen.getByRole('button', { name }));
  await flushUpdates();
};

test('there is no tab without a server', async () => {
  await mount(testPayload());
  expect(screen.queryByRole('tab', { name: 'Quantize' })).toBeNull();
});

test('layers are ranked, those that must stay float are ticked, and the model is quantized', async () => {
  const run = vi.fn<Run>(async order => {
    await Promise.resolve();
    return order.kind === 'sensitivity'
      ? RANKED
      : { ...EMPTY, path: 'models/q.onnx', lines: ['q.onnx: 1 kB'] };
  });
  await opened(run);
  const tabPanel = await panel();
  const samples = within(tabPanel).getByRole('textbox', { name: 'Samples' });
  fireEvent.change(samples, { target: { value: ' x.npz ' } });
  await press('Rank layers');
  expect(run.mock.calls[0][0]).toEqual({ kind: 'sensitivity', data: 'x.npz' });
  const boxes = within(tabPanel).getAllByRole<HTMLInputElement>('checkbox');
  expect(boxes.map(box => box.checked)).toEqual([true, false]);
  const cells = within(tabPanel)
    .getAllByRole('cell')
    .map(cell => cell.textContent);
  expect(cells.slice(1, 6)).toEqual([
    'first',
    'Conv',
    '0.500',
    '6.0',
    '75.0 %'
  ]);
  expect(cells.slice(-2)).toEqual(['—', '—']);
  fireEvent.click(boxes[1]);
  expect(tabPanel.textContent).toContain('2 layers stay float');
  await press('Quantize');
  expect(run.mock.calls[1][0]).toMatchObject({
    kind: 'quantize',
    exclude: ['t0', 't1'],
    method: 'static',
    data: 'x.npz',
    random_data: false
  });
  expect(tabPanel.textContent).toContain('q.onnx: 1 kB');
});

test('a run shows its progress, continues while the tab is closed, and can be stopped', async () => {
  const stopped = vi.fn();
  const run: Run = (_, onChange, signal) =>
    new Promise((_resolve, reject) => {
      onChange(running());
      signal.addEventListener('abort', () => {
        stopped();
        reject(abortError());
      });
    });
  await opened(run);
  await panel();
  await press('Rank layers');
  expect(screen.getByRole('tabpanel').textContent).toContain('3 of 54');
  fireEvent.click(screen.getByRole('tab', { name: 'Layers' }));
  await flushUpdates();
  expect(stopped).not.toHaveBeenCalled();
  await panel();
  expect(screen.getByRole('progressbar')).toBeTruthy();
  await act(() => press('Cancel'));
  expect(stopped).toHaveBeenCalledOnce();
  expect(screen.queryByRole('progressbar')).toBeNull();
  expect(screen.queryByRole('alert')).toBeNull();
});

test('an error is shown', async () => {
  const run: Run = () =>
    Promise.reject(
      new ProblemError(
        localProblem(
          'no-data',
          'No data',
          'There are no samples.',
          'Give some.'
        )
      )
    );
  await opened(run);
  const tabPanel = await panel();
  await press('Quantize');
  expect(within(tabPanel).getByRole('alert').textContent).toBe(
    'There are no samples. Give some.'
  );
});
