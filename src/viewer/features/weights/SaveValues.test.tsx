// @vitest-environment jsdom
import { act, fireEvent, screen, within } from '@testing-library/react';
import { beforeEach, expect, test, vi } from 'vitest';
import type { IReportProvider } from '../../../providers/provider';
import { localProblem, ProblemError } from '../../../providers/provider';
import type { WeightFile, WeightValues } from '../../../schema';
import { saveFile } from '../../export/downloadFile';
import { testPayload } from '../../testing/payload';
import { guardConsole, mount, flushUpdates } from '../../testing/render';
import { surface } from '../../testing/surface';
import { weightValues } from '../../testing/weights';

vi.mock('../../graph/surface', async () => ({
  GraphSurface: (await import('../../testing/surface')).FakeSurface
}));
vi.mock(
  '../../graph/cards/cardSizer',
  async () => await import('../../testing/sizer')
);
vi.mock('../../export/downloadFile', async original => ({
  ...(await original<object>()),
  saveFile: vi.fn()
}));

guardConsole();
beforeEach(() => void vi.mocked(saveFile).mockClear());

const BYTES = [147, 78, 85, 77, 80, 89, 1, 0];

function weightFile(change: Partial<WeightFile> = {}): WeightFile {
  return {
    tensor: 1,
    name: 'w1',
    graph: '',
    elem_type: 'float32',
    dtype: 'float32',
    converted: false,
    shape: [2, 3],
    bytes: BYTES.length,
    data: btoa(String.fromCharCode(...BYTES)),
    ...change
  };
}

const inspector = (): HTMLElement =>
  screen.getByRole('complementary', { name: 'Inspector' });

const button = (name: RegExp): HTMLElement =>
  within(inspector()).getByRole('button', { name });

async function press(name: RegExp): Promise<void> {
  fireEvent.click(button(name));
  await flushUpdates();
}

/** Shows the values of a weight called `name`. */
async function mountWeight(
  read: IReportProvider['weightFile'],
  change: Partial<WeightValues> = {},
  name = 'conv1.weight'
): Promise<void> {
  const payload = testPayload();
  payload.tensors.name[1] = name;
  const weights = { 1: weightValues(1, change) };
  await mount(payload, { weights, weightFile: read });
  act(() =>
    surface().callbacks.onSelectTensor?.(
      { kind: 'tensor', id: 1 },
      { activated: false }
    )
  );
  await flushUpdates();
  await press(/^Show values of/);
}

test('all values are saved under the name of the weight', async () => {
  const read = vi.fn(async () => weightFile());
  await mountWeight(read);
  expect(read).not.toHaveBeenCalled();
  await press(/^Save conv1.weight as .npy/);
  expect(read).toHaveBeenCalledTimes(1);
  const [[name, data]] = vi.mocked(saveFile).mock.calls;
  expect(name).toBe('conv1.weight.npy');
  expect(data.size).toBe(BYTES.length);
  expect(data.type).toBe('application/octet-stream');
  expect(inspector().textContent).not.toContain('numpy lacks');
  // Not cached: the file may have changed.
  await press(/^Save conv1.weight as .npy/);
  expect(read).toHaveBeenCalledTimes(2);
});

test.each([
  ['../../etc/passwd', '_.._etc_passwd.npy'],
  ['onnx::MatMul_17', 'onnx_MatMul_17.npy'],
  ['<img src=x onerror=alert(1)>', '_img src=x onerror=alert(1)_.npy'],
  ['C:\\w\n.exe', 'C_w_.exe.npy'],
  ['', 'weight-1.npy'],
  ['n'.repeat(5000), `${'n'.repeat(120)}.npy`]
])('the name %j becomes a safe file name', async (name, safe) => {
  await mountWeight(async () => weightFile(), {}, name);
  await press(/as .npy$/);
  expect(vi.mocked(saveFile).mock.calls[0][0]).toBe(safe);
});

test('a type that NumPy lacks is reported', async () => {
  await mountWeight(async () =>
    weightFile({ elem_type: 'bfloat16', converted: true })
  );
  await press(/^Save/);
  expect(inspector().textContent).toContain(
    'The file has float32: numpy lacks bfloat16. No value was rounded.'
  );
});

test('a weight too large is reported with a hint, and can be retried', async () => {
  const problem = localProblem(
    'limit-array-bytes',
    '',
    'It takes 200,000,000 bytes.',
    "In Python: py_autodoc.read_array('m.onnx', 'w')."
  );
  await mountWeight(() => Promise.reject(new ProblemError(problem)));
  await press(/^Save/);
  const alertText = within(inspector()).getByRole('alert').textContent;
  expect(alertText).toContain('200,000,000 bytes');
  expect(alertText).toContain('py_autodoc.read_array');
  await press(/^Retry/);
  expect(saveFile).not.toHaveBeenCalled();
});

test('a long read can be cancelled and saves nothing', async () => {
  let finish: (file: WeightFile) => void = () => undefined;
  let received: AbortSignal | null = null;
  await mountWeight((_tensor, signal) => {
    received = signal;
    return new Promise(resolve => (finish = resolve));
  });
  await press(/^Save/);
  expect(inspector().textContent).toContain('Reading all values…');
  await press(/^Cancel saving/);
  expect(received!.aborted).toBe(true);
  finish(weightFile());
  await flushUpdates();
  expect(saveFile).not.toHaveBeenCalled();
  expect(button(/^Save/)).toBeTruthy();
});

test('a sparse tensor has no file', async () => {
  const read = async (): Promise<WeightFile> => weightFile();
  await mountWeight(read, { sparse: true, stored: 2, indices: [0, 1] });
  expect(inspector().textContent).toContain('A sparse tensor cannot be saved');
  expect(screen.queryByRole('button', { name: /^Save .* as/ })).toBeNull();
});

test('there is no button without a server or kernel', async () => {
  await mountWeight(undefined);
  expect(screen.queryByRole('button', { name: /^Save .* as/ })).toBeNull();
});
