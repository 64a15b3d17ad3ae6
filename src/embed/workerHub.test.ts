// @vitest-environment jsdom
import { describe, expect, it, vi } from 'vitest';
import {
  WorkerEngine,
  type ILayoutRequest,
  type ILayoutWorker
} from '../core/layout/engine/layoutEngine';
import { layered } from '../core/layout/layered/layered';
import type { ILayoutInput } from '../core/layout/layered/layoutTypes';
import { WorkerHub } from './workerHub';

class FakeSharedWorker implements ILayoutWorker {
  onmessage: ILayoutWorker['onmessage'] = null;
  onerror: ILayoutWorker['onerror'] = null;
  readonly requests: ILayoutRequest[] = [];
  ended = false;

  postMessage(message: ILayoutRequest): void {
    this.requests.push(message);
  }

  terminate(): void {
    this.ended = true;
  }

  answer(index: number, extra: object): void {
    const data = { id: this.requests[index].id, ...extra };
    this.onmessage?.(new MessageEvent('message', { data }));
  }
}

function setUp() {
  const workers: FakeSharedWorker[] = [];
  const hub = new WorkerHub(() => {
    workers.push(new FakeSharedWorker());
    return workers[workers.length - 1];
  });
  return { workers, hub };
}

const REQUEST = { id: 1 } as ILayoutRequest;

describe('WorkerHub', () => {
  it('shares one worker and returns each engine its own results', () => {
    const { workers, hub } = setUp();
    const clients = [hub.connect(), hub.connect()];
    const handlers = clients.map(client => {
      const onMessage = vi.fn();
      client.onmessage = event => onMessage(event.data);
      return onMessage;
    });
    clients[0].postMessage(REQUEST);
    clients[1].postMessage(REQUEST);
    expect(workers).toHaveLength(1);
    workers[0].answer(1, { error: 'b' });
    workers[0].answer(0, { error: 'a' });
    expect(handlers[0].mock.calls).toEqual([[{ id: 1, error: 'a' }]]);
    expect(handlers[1].mock.calls).toEqual([[{ id: 1, error: 'b' }]]);
  });

  it('terminates the worker with its last user and creates another on demand', () => {
    const { workers, hub } = setUp();
    const [a, b] = [hub.connect(), hub.connect()];
    a.onmessage = vi.fn();
    a.postMessage(REQUEST);
    a.terminate();
    expect(workers[0].ended).toBe(false);
    workers[0].answer(0, {});
    expect(a.onmessage).not.toHaveBeenCalled();
    b.terminate();
    expect(workers[0].ended).toBe(true);
    hub.connect();
    expect(workers).toHaveLength(2);
  });

  it('every engine gets its layout if the worker breaks', async () => {
    const { workers, hub } = setUp();
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    const engines = [0, 1].map(() => new WorkerEngine(() => hub.connect(), 0));
    const input = { itemCount: 0 } as unknown as ILayoutInput;
    vi.mocked(layered).mockReturnValue('laid out' as never);
    const results = engines.map(engine => engine.layout(input, {} as never));
    workers[0].onerror?.(new ErrorEvent('error', { message: 'gone' }));
    expect(await Promise.all(results)).toEqual(['laid out', 'laid out']);
    expect(workers[0].ended).toBe(true);
    expect(warn).toHaveBeenCalledTimes(2);
    // The worker never answered: this page allows none, and no other engine tries again.
    expect(() => hub.connect()).toThrow('allows no workers');
    expect(workers).toHaveLength(1);
    warn.mockRestore();
  });
});

vi.mock('../core/layout/layered/layered', () => ({ layered: vi.fn() }));
