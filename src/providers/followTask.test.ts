import { expect, test, vi } from 'vitest';
import type { Task, TaskResult } from '../schema';
import { Connection, type IHttpRequest } from './connection';
import { ProblemError } from './provider';
import { followProfile, followTask } from './followTask';

const RESULT: TaskResult = {
  lines: ['done'],
  label: '',
  unit: '',
  values: {},
  layers: [],
  path: 'q.onnx',
  times: null,
  verification: null,
  kernels: null,
  accuracies: []
};

function task(state: string, more: Partial<Task> = {}): Task {
  return {
    id: 'a/b',
    kind: 'quantize',
    state,
    step: '',
    done: 0,
    total: 0,
    problem: null,
    result: null,
    ...more
  };
}

/** A server that gives these answers in turn; numbers are the statuses of failures. */
function server(answers: readonly (Task | number)[]): {
  connection: Connection;
  requests: [string, IHttpRequest][];
} {
  const left = [...answers];
  const requests: [string, IHttpRequest][] = [];
  const connection = new Connection({
    baseUrl: 'http://host/',
    wsUrl: 'ws://host/',
    openSocket: () => {
      throw new Error('no sockets');
    },
    delay: (_, signal) => {
      signal.throwIfAborted();
      return Promise.resolve();
    },
    fetch: (url, request) => {
      requests.push([url.replace('http://host/autodoc/api/', ''), request]);
      request.signal?.throwIfAborted();
      const next = left.length > 1 ? left.shift() : left[0];
      return Promise.resolve(
        typeof next === 'number'
          ? new Response('{}', { status: next })
          : new Response(JSON.stringify(next), { status: 200 })
      );
    }
  });
  return { connection, requests };
}

const order = { kind: 'quantize', out: 'q.onnx' };

test('a task is followed to its end, with paths relative to the model', async () => {
  const { connection, requests } = server([
    task('queued'),
    task('running', { step: 'quantizing', done: 1, total: 4 }),
    503,
    task('done', { result: RESULT })
  ]);
  const onProgress = vi.fn();
  const result = await followTask(
    connection,
    'models/m.onnx',
    { ...order, data: 'x.npz' },
    onProgress,
    new AbortController().signal
  );
  expect(result.path).toBe('models/q.onnx');
  expect(onProgress.mock.calls.map(([task]) => (task as Task).state)).toEqual([
    'queued',
    'running',
    'done'
  ]);
  expect(requests.map(([path]) => path)).toEqual([
    'tasks',
    ...Array<string>(3).fill('tasks/a%2Fb')
  ]);
  expect(JSON.parse(String(requests[0][1].body))).toEqual({
    ...order,
    data: 'models/x.npz',
    path: 'models/m.onnx'
  });
});

test('an absolute path is not changed', async () => {
  const { connection, requests } = server([task('done', { result: RESULT })]);
  const data = '/data/x.npz';
  const { signal } = new AbortController();
  await followTask(connection, 'm.onnx', { ...order, data }, vi.fn(), signal);
  expect(JSON.parse(String(requests[0][1].body))).toMatchObject({ data });
});

test('a failure has the problem of the task, and a definite response ends it', async () => {
  const problem = {
    type: '',
    title: 'Invalid option',
    status: 422,
    detail: 'There is no data.',
    code: 'no-data',
    hint: ''
  };
  const { signal } = new AbortController();
  const failed = server([task('running'), task('failed', { problem })]);
  await expect(
    followTask(failed.connection, 'm.onnx', order, vi.fn(), signal)
  ).rejects.toMatchObject({ problem });
  const connection = server([task('running'), 404]);
  await expect(
    followTask(connection.connection, 'm.onnx', order, vi.fn(), signal)
  ).rejects.toBeInstanceOf(ProblemError);
  expect(connection.requests).toHaveLength(2);
  const down = server([task('running'), 502]);
  await expect(
    followTask(down.connection, 'm.onnx', order, vi.fn(), signal)
  ).rejects.toBeInstanceOf(ProblemError);
  expect(down.requests).toHaveLength(7);
});

test('aborting stops the task on the server', async () => {
  const { connection, requests } = server([task('running')]);
  const stop = new AbortController();
  const ended = followTask(
    connection,
    'm.onnx',
    order,
    () => stop.abort(),
    stop.signal
  );
  await expect(ended).rejects.toMatchObject({ name: 'AbortError' });
  expect(requests.at(-1)).toMatchObject(['tasks/a%2Fb', { method: 'DELETE' }]);
});

test('files of a profile are uploaded first, files of the server are named', async () => {
  const upload = { id: 'u1', name: 't.json', size: 2 };
  const { connection, requests } = server([
    upload as unknown as Task,
    task('done', { result: RESULT })
  ]);
  const file = new File(['{}'], 'a b.json');
  const { signal } = new AbortController();
  const files = [file, 'models/layers.json'];
  await followProfile(connection, 'm.onnx', files, vi.fn(), signal);
  expect(requests[0][0]).toBe('uploads?name=a%20b.json');
  expect(requests[0][1].body).toBe(file);
  expect(JSON.parse(String(requests[1][1].body))).toEqual({
    kind: 'profile',
    path: 'm.onnx',
    uploads: ['u1'],
    profiles: ['models/layers.json']
  });
});

test('a file over the server’s limit is not sent', async () => {
  const { connection, requests } = server([]);
  const file = new File([], 'huge.json');
  Object.defineProperty(file, 'size', { value: 2 ** 28 });
  const { signal } = new AbortController();
  await expect(
    followProfile(connection, 'm.onnx', [file], vi.fn(), signal)
  ).rejects.toMatchObject({ problem: { code: 'profile-too-large' } });
  expect(requests).toEqual([]);
});
