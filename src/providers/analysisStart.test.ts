import { describe, expect, test } from 'vitest';
import type { GraphPayload, Job } from '../schema';
import type { IHttpRequest, IServerConnection } from './connection';
import { ServerProvider } from './serverProvider';
import { PrefetchedAnalysis, type IPrefetchOptions } from './analysisStart';

const PATH = 'a/m.onnx';
const PAYLOAD = { schema_version: '1.0' } as GraphPayload;
const OPTIONS: IPrefetchOptions = {
  options: { bindings: {}, assume: true },
  rules: {}
};
const FILE_STATE = { path: PATH, bytes: 5, mtime_ns: '1', kind: 'onnx' };

/** A server whose jobs finish at once, numbered in the order of requests. */
class FakeJobServer implements IServerConnection {
  baseUrl = 'http://host/';
  wsUrl = 'ws://host/';
  readonly calls: string[] = [];
  bytes = FILE_STATE.bytes;
  refuses = false;
  private _jobs = 0;

  fetch(url: string, request: IHttpRequest): Promise<Response> {
    const resource = url.replace('http://host/autodoc/api/', '').split('?')[0];
    this.calls.push(`${request.method ?? 'GET'} ${resource}`);
    if (request.signal?.aborted) {
      const error = new Error('Aborted');
      error.name = 'AbortError';
      return Promise.reject(error);
    }
    if (resource === 'jobs' && this.refuses) {
      const problem = { title: 'Busy', detail: 'Too many.', code: 'busy' };
      return Promise.resolve(
        new Response(JSON.stringify(problem), { status: 503 })
      );
    }
    const body =
      resource === 'jobs'
        ? ({ id: `j${++this._jobs}`, state: 'done', seq: 1 } as Job)
        : resource === 'files'
          ? { ...FILE_STATE, bytes: this.bytes }
          : PAYLOAD;
    return Promise.resolve(new Response(JSON.stringify(body)));
  }

  openSocket(): never {
    throw new Error('A job that is done needs no socket.');
  }
}

const flushPromises = () => new Promise(resolve => setTimeout(resolve, 0));

function begin(
  prefetchOptions: Promise<IPrefetchOptions | null> = Promise.resolve(OPTIONS)
) {
  const fake = new FakeJobServer();
  const prefetched = new PrefetchedAnalysis(fake, PATH, prefetchOptions);
  const provider = new ServerProvider(fake, PATH, () => ({}), prefetched);
  const abort = new AbortController();
  const load = (options = OPTIONS.options) =>
    provider.load(options, () => undefined, abort.signal);
  return { fake, prefetched, provider, abort, load };
}

describe('prefetched analysis', () => {
  test('reads the file state and starts before the first load', async () => {
    const { fake } = begin();
    await flushPromises();
    expect(fake.calls).toEqual(['GET files', 'POST jobs']);
  });

  test('is used by the first load; the next one starts another', async () => {
    const { fake, load } = begin();
    await flushPromises();
    expect(await load()).toEqual(PAYLOAD);
    expect(fake.calls.slice(2)).toEqual(['GET jobs/j1/graph']);
    await load();
    expect(fake.calls.slice(3)).toEqual([
      'GET files',
      'POST jobs',
      'GET jobs/j2/graph'
    ]);
  });

  test('is awaited if the load comes first', async () => {
    let resolveOptions: (prefetchOptions: IPrefetchOptions) => void = () =>
      undefined;
    const { fake, load } = begin(
      new Promise(resolve => (resolveOptions = resolve))
    );
    const loaded = load();
    await flushPromises();
    expect(fake.calls).toEqual([]);
    resolveOptions(OPTIONS);
    expect(await loaded).toEqual(PAYLOAD);
    expect(fake.calls.filter(call => call === 'POST jobs')).toHaveLength(1);
  });

  test('detects changes since before it started', async () => {
    const { fake, provider, load, abort } = begin();
    await flushPromises();
    await load();
    expect(await provider.fileState(abort.signal)).toBe('same');
    fake.bytes++;
    expect(await provider.fileState(abort.signal)).toBe('changed');
  });

  test('with other dimensions is cancelled and replaced', async () => {
    const { fake, load } = begin();
    await flushPromises();
    await load({ bindings: { batch: 2 }, assume: true });
    expect(fake.calls.slice(2)).toEqual([
      'DELETE jobs/j1',
      'GET files',
      'POST jobs',
      'GET jobs/j2/graph'
    ]);
  });

  test('is cancelled if it is never used', async () => {
    const { fake, prefetched } = begin();
    await flushPromises();
    prefetched.dispose();
    prefetched.dispose();
    await flushPromises();
    expect(fake.calls.slice(2)).toEqual(['DELETE jobs/j1']);
  });

  test('is not cancelled by disposal after it was used', async () => {
    const { fake, prefetched, load } = begin();
    await load();
    prefetched.dispose();
    await flushPromises();
    expect(fake.calls).not.toContain('DELETE jobs/j1');
  });

  test('does not start for a view closed in the meantime', async () => {
    let resolveOptions: (prefetchOptions: IPrefetchOptions) => void = () =>
      undefined;
    const { fake, prefetched } = begin(
      new Promise(resolve => (resolveOptions = resolve))
    );
    prefetched.dispose();
    resolveOptions(OPTIONS);
    await flushPromises();
    expect(fake.calls).toEqual([]);
  });

  test('is cancelled if the load that uses it is aborted', async () => {
    const { fake, abort, load } = begin();
    await flushPromises();
    abort.abort();
    await expect(load()).rejects.toThrow('Aborted');
    expect(fake.calls).toContain('DELETE jobs/j1');
  });

  test('reports its failure through the load', async () => {
    const { fake, load } = begin();
    fake.refuses = true;
    await flushPromises();
    await expect(load()).rejects.toThrow('Too many.');
    fake.refuses = false;
    expect(await load()).toEqual(PAYLOAD);
  });

  test('does not start if its options are unknown', async () => {
    const { fake, load } = begin(Promise.resolve(null));
    await flushPromises();
    expect(fake.calls).toEqual([]);
    expect(await load()).toEqual(PAYLOAD);
  });
});
