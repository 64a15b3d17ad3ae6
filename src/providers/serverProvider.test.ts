import { describe, expect, test } from 'vitest';
import type { GraphPayload, Job, Problem } from '../schema';
import type { IHttpRequest, IServerConnection, ISocket } from './connection';
import { isAbort, ProblemError, type IProgress } from './provider';
import { ServerProvider } from './serverProvider';
import type { IRuleOptions } from './analysisStart';

const PAYLOAD = { schema_version: '1.0' } as GraphPayload;
const OPTIONS = { bindings: { batch: 2 }, assume: false };

function job(change: Partial<Job> = {}): Job {
  return {
    id: 'j1',
    state: 'running',
    phase: 'load',
    done: 0,
    total: 0,
    seq: 1,
    identity: null,
    problem: null,
    ...change
  };
}

function problem(change: Partial<Problem> = {}): Problem {
  return {
    type: 'about:blank',
    title: 'Not an ONNX model',
    status: 422,
    detail: 'm.onnx begins with “PK”',
    code: 'not-a-model',
    hint: 'Unpack it.',
    ...change
  };
}

class FakeSocket implements ISocket {
  onmessage: ISocket['onmessage'] = null;
  onerror: ISocket['onerror'] = null;
  onclose: ISocket['onclose'] = null;
  closed = false;

  constructor(readonly url: string) {}

  close(): void {
    this.closed = true;
  }

  send(value: unknown): void {
    this.onmessage?.({
      data: typeof value === 'string' ? value : JSON.stringify(value)
    });
  }
}

type Answer = (request: IHttpRequest) => { status: number; body: unknown };

/** A server that answers from a table; time passes only on request. */
class FakeServer implements IServerConnection {
  baseUrl = 'http://host/user/me/';
  wsUrl = 'ws://host/user/me';
  token: string | undefined = 'secret';
  readonly calls: string[] = [];
  readonly bodies: unknown[] = [];
  readonly sockets: FakeSocket[] = [];
  readonly delays: { ms: number; resolve: () => void }[] = [];
  down = false;

  constructor(readonly answers: Record<string, Answer>) {}

  async fetch(url: string, request: IHttpRequest): Promise<Response> {
    const path = url.replace('http://host/user/me/autodoc/api/', '');
    const call = `${request.method ?? 'GET'} ${path}`;
    this.calls.push(call);
    if (request.body) {
      this.bodies.push(JSON.parse(String(request.body)));
    }
    if (this.down) {
      throw new TypeError('Failed to fetch');
    }
    const response = this.answers[call]?.(request) ?? { status: 404, body: '' };
    const text =
      typeof response.body === 'string'
        ? response.body
        : JSON.stringify(response.body);
    return new Response(response.status === 204 ? null : text, {
      status: response.status
    });
  }

  openSocket(url: string): ISocket {
    const socket = new FakeSocket(url);
    this.sockets.push(socket);
    return socket;
  }

  delay(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      this.delays.push({ ms, resolve });
      signal.addEventListener('abort', () => {
        reject(Object.assign(new Error('Aborted'), { name: 'AbortError' }));
      });
    });
  }
}

const ok =
  (body: unknown, status = 200): Answer =>
  () => ({ status, body });

function server(answers: Record<string, Answer> = {}): FakeServer {
  return new FakeServer({
    'POST jobs': ok(job(), 202),
    'GET jobs/j1/graph': ok(PAYLOAD),
    'DELETE jobs/j1': ok('', 204),
    'GET files?path=a%2Fm%20%23.onnx': ok({
      path: 'a/m #.onnx',
      bytes: 5,
      mtime_ns: '1',
      kind: 'onnx'
    }),
    ...answers
  });
}

function start(fake: FakeServer): {
  provider: ServerProvider;
  progress: IProgress[];
  abort: AbortController;
  loaded: Promise<GraphPayload>;
} {
  const provider = new ServerProvider(fake, 'a/m #.onnx');
  const progress: IProgress[] = [];
  const abort = new AbortController();
  const loaded = provider.load(
    OPTIONS,
    step => progress.push(step),
    abort.signal
  );
  // Tests check the outcome later.
  loaded.catch(() => undefined);
  return { provider, progress, abort, loaded };
}

async function tick(): Promise<void> {
  for (let i = 0; i < 30; i++) {
    await Promise.resolve();
  }
  await new Promise(resolve => setTimeout(resolve, 0));
}

async function problemFrom(promise: Promise<unknown>): Promise<Problem> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof ProblemError) {
      return error.problem;
    }
    throw error;
  }
  throw new Error('It did not fail.');
}

describe('the socket', () => {
  test('delivers progress, then the graph is fetched', async () => {
    const fake = server();
    const { provider, progress, loaded } = start(fake);
    await tick();
    expect(provider.exportName).toBe('m #');
    expect(fake.bodies[0]).toEqual({
      path: 'a/m #.onnx',
      bindings: { batch: 2 },
      input_shapes: {},
      assume: false
    });
    const [socket] = fake.sockets;
    expect(socket.url).toBe(
      'ws://host/user/me/autodoc/api/jobs/j1/ws?token=secret'
    );
    socket.send(job({ seq: 2, phase: 'shapes', done: 1, total: 4 }));
    socket.send(job({ seq: 1, phase: 'late' }));
    socket.send(job({ seq: 3, state: 'done', phase: 'done' }));
    expect(await loaded).toEqual(PAYLOAD);
    expect(progress.map(step => step.phase)).toEqual([
      'load',
      'shapes',
      'done'
    ]);
    expect(socket.closed).toBe(true);
  });

  test('is not opened for a finished job', async () => {
    const fake = server({ 'POST jobs': ok(job({ state: 'done' })) });
    await start(fake).loaded;
    expect(fake.sockets).toEqual([]);
  });

  test('has no token in its URL if there is none', async () => {
    const fake = server();
    fake.token = undefined;
    start(fake);
    await tick();
    expect(fake.sockets[0].url.endsWith('/ws')).toBe(true);
  });

  test.each(['error', 'close', 'silence', 'rubbish'])(
    'is replaced by polling after %s',
    async fault => {
      const states = [
        job({ seq: 4, phase: 'costs' }),
        job({ seq: 5, state: 'done' })
      ];
      const fake = server({
        'GET jobs/j1': () => ({ status: 200, body: states.shift() })
      });
      const { progress, loaded } = start(fake);
      await tick();
      const [socket] = fake.sockets;
      if (fault === 'error') {
        socket.onerror?.({});
      } else if (fault === 'close') {
        socket.onclose?.({});
      } else if (fault === 'silence') {
        fake.delays[0].resolve();
      } else {
        socket.send('{"no": "job"}');
      }
      await tick();
      fake.delays[fake.delays.length - 1].resolve();
      expect(await loaded).toEqual(PAYLOAD);
      expect(progress.map(step => step.phase)).toContain('costs');
    }
  );
});

describe('failures', () => {
  test('a failed job rejects with its problem', async () => {
    const fake = server();
    const { loaded } = start(fake);
    await tick();
    fake.sockets[0].send(job({ seq: 9, state: 'failed', problem: problem() }));
    expect(await problemFrom(loaded)).toEqual(problem());
  });

  test('a rejected request gives the problem in the response', async () => {
    const fake = server({ 'POST jobs': ok(problem({ status: 404 }), 404) });
    expect((await problemFrom(start(fake).loaded)).code).toBe('not-a-model');
  });

  test('an HTML page from a proxy becomes a readable problem', async () => {
    const fake = server({ 'POST jobs': ok('<html>Bad gateway</html>', 502) });
    const problem = await problemFrom(start(fake).loaded);
    expect(problem.code).toBe('http-502');
    expect(problem.detail).not.toContain('<html>');
  });

  test('an unreachable server is named', async () => {
    const fake = server();
    fake.down = true;
    const problem = await problemFrom(start(fake).loaded);
    expect(problem.code).toBe('unreachable');
    expect(problem.hint).not.toBe('');
  });

  test('a response that is not JSON is a problem', async () => {
    const fake = server({
      'POST jobs': ok(job({ state: 'done' })),
      'GET jobs/j1/graph': ok('{"cut": ')
    });
    expect((await problemFrom(start(fake).loaded)).code).toBe('bad-answer');
  });

  test('polling survives a short outage and ends in a long one', async () => {
    const fake = server();
    const { loaded } = start(fake);
    await tick();
    fake.sockets[0].onclose?.({});
    fake.down = true;
    for (let i = 0; i < 8; i++) {
      await tick();
      fake.delays[fake.delays.length - 1].resolve();
    }
    expect((await problemFrom(loaded)).code).toBe('unreachable');
    expect(fake.calls.filter(call => call === 'GET jobs/j1')).toHaveLength(6);
  });
});

test('abort cancels the job on the server', async () => {
  const fake = server();
  const { abort, loaded } = start(fake);
  await tick();
  abort.abort();
  const error: unknown = await loaded.catch((reason: unknown) => reason);
  expect(isAbort(error)).toBe(true);
  expect(fake.calls).toContain('DELETE jobs/j1');
  expect(fake.sockets[0].closed).toBe(true);
});

describe('after loading', () => {
  const finished = ok(job({ state: 'done' }));

  test('details come from the job; an expired job is started again', async () => {
    let id = 'j1';
    const fake = server({
      'POST jobs': () => ({ status: 200, body: job({ id, state: 'done' }) }),
      'GET jobs/j2/nodes/7': ok({ id: 7 })
    });
    const { provider, loaded, abort } = start(fake);
    await loaded;
    id = 'j2';
    expect(await provider.details(7, abort.signal)).toEqual({ id: 7 });
    expect(fake.calls.filter(call => call === 'POST jobs')).toHaveLength(2);
  });

  test('a missing node is not requested repeatedly', async () => {
    const fake = server({ 'POST jobs': finished });
    const { provider, loaded, abort } = start(fake);
    await loaded;
    const problem = await problemFrom(provider.details(7, abort.signal));
    expect(problem.status).toBe(404);
    expect(fake.calls.filter(call => call === 'POST jobs')).toHaveLength(2);
  });

  test('other dimensions are a separate job', async () => {
    let id = 'j1';
    const bodies: unknown[] = [];
    const fake = server({
      'POST jobs': request => {
        bodies.push(JSON.parse(String(request.body)));
        return { status: 200, body: job({ id, state: 'done' }) };
      },
      'GET jobs/j2/graph': ok({ schema_version: 'other' }),
      'GET jobs/j1/nodes/7': ok({ id: 7 })
    });
    const { provider, loaded, abort } = start(fake);
    await loaded;
    id = 'j2';
    expect(await provider.sized({ batch: 9 }, abort.signal)).toEqual({
      schema_version: 'other'
    });
    expect(bodies.at(-1)).toMatchObject({
      bindings: { batch: 9 },
      assume: true
    });
    // Details are still those of the model on screen.
    expect(await provider.details(7, abort.signal)).toEqual({ id: 7 });
  });

  test('text generation is planned for a device', async () => {
    const query = 'device=l4&precision=&runtime=ort-cuda';
    const fake = server({
      'POST jobs': finished,
      [`GET jobs/j1/serving?${query}`]: ok({ plans: [] })
    });
    const { provider, loaded, abort } = start(fake);
    await loaded;
    const choice = { device: 'l4', precision: '', runtime: 'ort-cuda' };
    expect(await provider.serving(choice, abort.signal)).toEqual({ plans: [] });
  });

  test('a changed file is noticed', async () => {
    let mtime = '1';
    const fake = server({
      'POST jobs': finished,
      'GET files?path=a%2Fm%20%23.onnx': () => ({
        status: 200,
        body: { path: 'a/m #.onnx', bytes: 5, mtime_ns: mtime, kind: 'onnx' }
      })
    });
    const { provider, loaded, abort } = start(fake);
    expect(await provider.fileState(abort.signal)).toBe('same');
    await loaded;
    expect(await provider.fileState(abort.signal)).toBe('same');
    mtime = '2';
    expect(await provider.fileState(abort.signal)).toBe('changed');
  });
});

describe('weights and rules', () => {
  const finished = ok(job({ state: 'done' }));

  test('values come from the job, and errors are not retried', async () => {
    const fake = server({
      'POST jobs': finished,
      'GET jobs/j1/weights?tensor=7': ok({ tensor: 7 }),
      'GET jobs/j1/weights?tensor=8': ok(
        problem({ status: 404, code: 'not-a-weight' }),
        404
      )
    });
    const { provider, loaded, abort } = start(fake);
    await loaded;
    expect(await provider.weights(7, abort.signal)).toEqual({ tensor: 7 });
    const actual = await problemFrom(provider.weights(8, abort.signal));
    expect(actual.code).toBe('not-a-weight');
    expect(fake.calls.filter(call => call === 'POST jobs')).toHaveLength(1);
  });

  test('all values come as a file, and the size limit is reported', async () => {
    const fake = server({
      'POST jobs': finished,
      'GET jobs/j1/weights/npy?tensor=7': ok({ tensor: 7, data: 'AA==' }),
      'GET jobs/j1/weights/npy?tensor=8': ok(
        problem({ status: 413, code: 'limit-array-bytes', hint: 'In Python' }),
        413
      )
    });
    const { provider, loaded, abort } = start(fake);
    await loaded;
    const file = await provider.weightFile(7, abort.signal);
    expect(file).toEqual({ tensor: 7, data: 'AA==' });
    const refused = await problemFrom(provider.weightFile(8, abort.signal));
    expect(refused).toMatchObject({
      code: 'limit-array-bytes',
      hint: 'In Python'
    });
  });

  test('nodes to extract are sent with the path of the model', async () => {
    const fake = server({
      'POST jobs': finished,
      'POST jobs/j1/extract': ok({ path: 'a/m.stem.onnx' }, 201)
    });
    const { provider, loaded, abort } = start(fake);
    await loaded;
    const extracted = await provider.extract([1, 2], 'stem', abort.signal);
    expect(extracted).toEqual({ path: 'a/m.stem.onnx' });
    const { path } = fake.bodies[0] as { path: string };
    expect(fake.bodies[1]).toEqual({ path, nodes: [1, 2], part: 'stem' });
  });

  test('a file is written by the server with the given metric', async () => {
    const fake = server({
      'POST jobs': finished,
      'GET jobs/j1/files/model-explorer?metric=flops': ok({ text: '{}' })
    });
    const { provider, loaded, abort } = start(fake);
    await loaded;
    const file = await provider.file('model-explorer', 'flops', abort.signal);
    expect(file).toEqual({ text: '{}' });
  });

  test('settings of the rules go with each analysis', async () => {
    const fake = server({ 'POST jobs': finished });
    let rules: IRuleOptions = {
      thresholds: 'rules.json',
      readWeights: true
    };
    const provider = new ServerProvider(fake, 'a/m #.onnx', () => rules);
    const load = (): Promise<unknown> =>
      provider.load(OPTIONS, () => undefined, new AbortController().signal);
    await load();
    expect(fake.bodies[0]).toMatchObject({
      thresholds: 'rules.json',
      read_weights: true
    });
    rules = {};
    await load();
    expect(fake.bodies[1]).not.toHaveProperty('thresholds');
    expect(fake.bodies[1]).not.toHaveProperty('read_weights');
  });
});

describe('a comparison', () => {
  const COLUMNS = { verdict: 'same architecture' };
  const COMPARED = 'GET jobs/j1/comparison?other=j2';

  /** The first model is analysed, the second analysis starts. */
  function two(answers: Record<string, Answer> = {}): {
    fake: FakeServer;
    first: ServerProvider;
    second: ServerProvider;
    begin(): Promise<void>;
  } {
    let jobs = 0;
    const fake = server({
      'POST jobs': () => ({
        status: 202,
        body:
          ++jobs === 1
            ? job({ state: 'done' })
            : job({ id: jobs === 2 ? 'j2' : 'j3' })
      }),
      'GET jobs/j2/graph': ok(PAYLOAD),
      'GET jobs/j3/graph': ok(PAYLOAD),
      [COMPARED]: ok(COLUMNS),
      ...answers
    });
    const [first, second] = ['a/m #.onnx', 'a/m #.onnx'].map(
      path => new ServerProvider(fake, path)
    );
    const { signal } = new AbortController();
    return {
      fake,
      first,
      second,
      begin: async () => {
        first.expectComparison(second, signal);
        await first.load(OPTIONS, () => undefined, signal);
        const loaded = second.load(OPTIONS, () => undefined, signal);
        await tick();
        // Requested while the second model is still being analysed.
        fake.calls.push('shown');
        fake.sockets[0].send(job({ id: 'j2', seq: 2, state: 'done' }));
        await loaded;
      }
    };
  }

  const { signal } = new AbortController();

  test('starts before the second model is shown, and is requested once', async () => {
    const { fake, first, second, begin } = two();
    await begin();
    expect(await first.compare(second, signal)).toEqual(COLUMNS);
    expect(fake.calls.indexOf(COMPARED)).toBeGreaterThan(0);
    expect(fake.calls.indexOf(COMPARED)).toBeLessThan(
      fake.calls.indexOf('shown')
    );
    expect(fake.calls.filter(call => call === COMPARED)).toHaveLength(1);
    // Asked again, it is a new request.
    await first.compare(second, signal);
    expect(fake.calls.filter(call => call === COMPARED)).toHaveLength(2);
  });

  test('is requested again after an early failure', async () => {
    let attempts = 0;
    const { first, second, begin } = two({
      [COMPARED]: () =>
        ++attempts === 1
          ? { status: 503, body: problem({ code: 'gone' }) }
          : { status: 200, body: COLUMNS }
    });
    await begin();
    expect(await first.compare(second, signal)).toEqual(COLUMNS);
  });

  test('of a previous analysis is not used', async () => {
    const other = { verdict: 'different architectures' };
    const { fake, first, second, begin } = two({
      'GET jobs/j1/comparison?other=j3': ok(other)
    });
    await begin();
    const reloading = second.load(OPTIONS, () => undefined, signal);
    await tick();
    fake.sockets[1].send(job({ id: 'j3', seq: 2, state: 'done' }));
    await reloading;
    expect(await first.compare(second, signal)).toEqual(other);
  });
});
