import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { runLayoutRequest, transferables, WorkerEngine } from './layoutEngine';
import type {
  ILayoutAnswer,
  ILayoutRequest,
  ILayoutWorker
} from './layoutEngine';
import { layered } from '../layered/layered';
import { simpleInput } from '../../testing/layoutInput';
import { LAYOUT_OPTIONS } from '../layered/layoutTypes';

const input = simpleInput([40, 40], [20, 20], [0], [1]);
const expected = layered(input, LAYOUT_OPTIONS);

/** A worker on this thread that answers on demand. */
class FakeWorker implements ILayoutWorker {
  onmessage: ((event: MessageEvent<ILayoutAnswer>) => void) | null = null;
  onerror: ((event: ErrorEvent) => void) | null = null;
  requests: ILayoutRequest[] = [];
  terminated = false;

  postMessage(message: ILayoutRequest): void {
    this.requests.push(structuredClone(message));
  }

  terminate(): void {
    this.terminated = true;
  }

  send(data: ILayoutAnswer): void {
    this.onmessage?.({ data } as MessageEvent<ILayoutAnswer>);
  }

  fail(message: string): void {
    this.onerror?.({ message } as ErrorEvent);
  }
}

describe('worker engine', () => {
  let warn: ReturnType<typeof vi.spyOn>;
  beforeEach(() => {
    warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  });
  afterEach(() => {
    warn.mockRestore();
  });

  it('lays out small levels on the page without creating a worker', () => {
    const make = vi.fn(() => new FakeWorker());
    const engine = new WorkerEngine(make, 3);
    expect(engine.layout(input, LAYOUT_OPTIONS)).toEqual(expected);
    expect(make).not.toHaveBeenCalled();
  });

  it('sends large levels to one worker and matches the responses', async () => {
    const worker = new FakeWorker();
    const make = vi.fn(() => worker);
    const engine = new WorkerEngine(make, 1);
    const first = engine.layout(input, LAYOUT_OPTIONS);
    const other = simpleInput([80], [20], [], []);
    const second = engine.layout(other, LAYOUT_OPTIONS);
    expect(make).toHaveBeenCalledTimes(1);
    worker.send(runLayoutRequest(worker.requests[1]));
    worker.send(runLayoutRequest(worker.requests[0]));
    worker.send({ id: 99, result: expected });
    expect(await first).toEqual(expected);
    expect((await second).width).toBe(80);
  });

  it('lays out on the page if no worker can be created', () => {
    const engine = new WorkerEngine(() => {
      throw new Error('forbidden by the page');
    }, 1);
    expect(engine.layout(input, LAYOUT_OPTIONS)).toEqual(expected);
    expect(engine.layout(input, LAYOUT_OPTIONS)).toEqual(expected);
    expect(warn).toHaveBeenCalledTimes(1);
  });

  it('lays out the pending requests of a broken worker', async () => {
    const worker = new FakeWorker();
    const engine = new WorkerEngine(() => worker, 1);
    const open = engine.layout(input, LAYOUT_OPTIONS);
    worker.fail('out of memory');
    expect(await open).toEqual(expected);
    expect(worker.terminated).toBe(true);
    expect(engine.layout(input, LAYOUT_OPTIONS)).toEqual(expected);
  });

  it('lays out a request that failed in the worker', async () => {
    const worker = new FakeWorker();
    const engine = new WorkerEngine(() => worker, 1);
    const open = engine.layout(input, LAYOUT_OPTIONS);
    worker.send({ id: worker.requests[0].id, error: 'broken' });
    expect(await open).toEqual(expected);
    expect(warn).toHaveBeenCalledTimes(1);
  });

  it('terminates its worker', () => {
    const worker = new FakeWorker();
    const engine = new WorkerEngine(() => worker, 1);
    void engine.layout(input, LAYOUT_OPTIONS);
    engine.dispose();
    expect(worker.terminated).toBe(true);
  });
});

it('answers an invalid request with its error', () => {
  const broken = { ...input, source: null as unknown as Int32Array };
  const reply = runLayoutRequest({
    id: 4,
    input: broken,
    options: LAYOUT_OPTIONS
  });
  expect(reply.id).toBe(4);
  expect(reply.result).toBeUndefined();
  expect(reply.error).toMatch(/TypeError/);
});

it('every buffer of a result is transferable', () => {
  const result = layered(input, LAYOUT_OPTIONS);
  const buffers = transferables(result) as ArrayBuffer[];
  const copy = structuredClone(result, { transfer: buffers });
  expect(copy).toEqual(expected);
  expect(result.points.length).toBe(0);
});
