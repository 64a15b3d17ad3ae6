import { expect, test, vi } from 'vitest';
import {
  kernelExtract,
  kernelFile,
  kernelProfile,
  kernelServing,
  kernelSized,
  kernelWeightFile,
  kernelWeights,
  type IKernelModel
} from './jupyterKernel';
import { ProblemError, isAbort, localProblem } from './provider';

type Hear = (message: unknown) => void;

/** A widget model that records messages and can be answered. */
function fakeModel(live?: boolean): {
  model: IKernelModel;
  sent: { type: string; id: string; tensor: number }[];
  answer: Hear;
  listenerCount: () => number;
} {
  const listeners = new Set<Hear>();
  const sent: { type: string; id: string; tensor: number }[] = [];
  return {
    model: {
      comm_live: live,
      on: (_event, callback) => listeners.add(callback as Hear),
      off: (_event, callback) => listeners.delete(callback as Hear),
      send: content => sent.push(content as (typeof sent)[number])
    },
    sent,
    answer: message => [...listeners].forEach(onMessage => onMessage(message)),
    listenerCount: () => listeners.size
  };
}

const signal = (): AbortSignal => new AbortController().signal;

test('each request gets its own response', async () => {
  const fake = fakeModel();
  const read = kernelWeights(fake.model)!;
  const [first, second] = [read(1, signal()), read(2, signal())];
  expect(fake.sent.map(({ tensor }) => tensor)).toEqual([1, 2]);
  const [a, b] = fake.sent;
  expect(a.id).not.toBe(b.id);
  fake.answer('rubbish');
  fake.answer({ type: 'other', id: a.id, value: { tensor: 9 } });
  fake.answer({ type: b.type, id: b.id, value: { tensor: 2 } });
  fake.answer({ type: a.type, id: a.id, value: { tensor: 1 } });
  expect(await first).toEqual({ tensor: 1 });
  expect(await second).toEqual({ tensor: 2 });
  expect(fake.listenerCount()).toBe(0);
});

test('a problem in a response rejects with that problem', async () => {
  const fake = fakeModel(true);
  const reading = kernelWeights(fake.model)!(1, signal());
  const problem = localProblem('external-missing', 'a', 'b', 'c');
  fake.answer({ ...fake.sent[0], problem });
  await expect(reading).rejects.toEqual(new ProblemError(problem));
  const withoutValue = kernelWeights(fake.model)!(1, signal());
  fake.answer({ ...fake.sent[1] });
  await expect(withoutValue).rejects.toBeInstanceOf(ProblemError);
});

test('an aborted request removes its listener', async () => {
  const fake = fakeModel();
  const controller = new AbortController();
  const reading = kernelWeights(fake.model)!(1, controller.signal);
  const onError = vi.fn();
  const end = reading.catch(onError);
  controller.abort();
  await end;
  expect(isAbort(onError.mock.calls[0][0])).toBe(true);
  expect(fake.listenerCount()).toBe(0);
  await expect(
    kernelWeights(fake.model)!(1, controller.signal)
  ).rejects.toThrow();
  expect(fake.sent).toHaveLength(1);
});

test('weights are not available without a kernel', () => {
  expect(kernelWeights(fakeModel(false).model)).toBeUndefined();
});

test('nodes are sent with the name of the extracted file; weights are not a valid response', async () => {
  const fake = fakeModel();
  const extracting = kernelExtract(fake.model)!([3, 4], 'stem', signal());
  const [sent] = fake.sent;
  expect(sent).toMatchObject({
    type: 'autodoc:extract',
    nodes: [3, 4],
    part: 'stem'
  });
  fake.answer({ type: 'autodoc:weights', id: sent.id, value: { tensor: 1 } });
  fake.answer({ type: sent.type, id: sent.id, value: { path: 'm.stem.onnx' } });
  expect(await extracting).toEqual({ path: 'm.stem.onnx' });
  expect(kernelExtract(fakeModel(false).model)).toBeUndefined();
});

test('all values are requested as a file of the same weight', async () => {
  const fake = fakeModel();
  const reading = kernelWeightFile(fake.model)!(7, signal());
  const [sent] = fake.sent;
  expect(sent).toMatchObject({
    type: 'autodoc:weights',
    tensor: 7,
    format: 'npy'
  });
  fake.answer({ type: sent.type, id: sent.id, value: { data: 'AA==' } });
  expect(await reading).toEqual({ data: 'AA==' });
  expect(kernelWeightFile(fakeModel(false).model)).toBeUndefined();
});

test('a file is requested by its format', async () => {
  const fake = fakeModel();
  const making = kernelFile(fake.model)!('netron', 'macs', signal());
  const [sent] = fake.sent;
  expect(sent).toMatchObject({
    type: 'autodoc:file',
    format: 'netron',
    metric: 'macs'
  });
  fake.answer({ type: sent.type, id: sent.id, value: { text: '{}' } });
  expect(await making).toEqual({ text: '{}' });
  expect(kernelFile(fakeModel(false).model)).toBeUndefined();
});

test('dimensions are requested by name, and only from a kernel', async () => {
  const fake = fakeModel(true);
  const sizing = kernelSized(fake.model)!({ batch: 4 }, signal());
  expect(fake.sent[0]).toMatchObject({
    type: 'autodoc:sized',
    dims: { batch: 4 }
  });
  fake.answer({ ...fake.sent[0], value: { schema_version: '1' } });
  expect(await sizing).toEqual({ schema_version: '1' });
  expect(kernelSized(fakeModel(false).model)).toBeUndefined();
});

test('text generation is planned for a device, and only with a kernel', async () => {
  const fake = fakeModel(true);
  const choice = { device: 'l4', precision: 'fp16', runtime: 'ort-cuda' };
  const planning = kernelServing(fake.model)!(choice, signal());
  expect(fake.sent[0]).toMatchObject({ type: 'autodoc:serving', ...choice });
  fake.answer({ ...fake.sent[0], value: { plans: [] } });
  expect(await planning).toEqual({ plans: [] });
  expect(kernelServing(fakeModel(false).model)).toBeUndefined();
});

test('a profile is read in the page and attributed by the kernel', async () => {
  const fake = fakeModel(true);
  const profile = kernelProfile(fake.model)!;
  const file = new File(['name,ms'], 't.csv');
  const reading = profile([file, 'a/path'], () => undefined, signal());
  await vi.waitFor(() => expect(fake.sent).toHaveLength(1));
  expect(fake.sent[0]).toMatchObject({
    type: 'autodoc:profile',
    files: [{ name: 't.csv', text: 'name,ms' }]
  });
  fake.answer({ ...fake.sent[0], value: { lines: [] } });
  expect(await reading).toEqual({ lines: [] });
  Object.defineProperty(file, 'size', { value: 2 ** 24 });
  await expect(
    profile([file], () => undefined, signal())
  ).rejects.toMatchObject({ problem: { code: 'profile-too-large' } });
  expect(kernelProfile(fakeModel(false).model)).toBeUndefined();
});
