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
  readonly asked: ILayoutRequest[] = [];
  ended = false;

  postMessage(message: ILayoutRequest): void {
    this.asked.push(message);
  }

  terminate(): void {
    this.ended = true;
  }

  answer(at: number, extra: object): void {
    const data = { id: this.asked[at].id, ...extra };
    this.onmessage?.(new MessageEvent('message', { data }));
  }
}

function setUp() {
  const made: FakeSharedWorker[] = [];
  const hub = new WorkerHub(() => {
    made.push(new FakeSharedWorker());
    return made[made.length - 1];
  });
  return { made, hub };
}

const REQUEST = { id: 1 } as ILayoutRequest;

describe('WorkerHub', () => {
  it('shares one worker and returns each engine its own results', () => {
    const { made, hub } = setUp();
    const clients = [hub.connect(), hub.connect()];
    const heard = clients.map(client => {
      const seen = vi.fn();
      client.onmessage = event => seen(event.data);
      return seen;
    });
    clients[0].postMessage(REQUEST);
    clients[1].postMessage(REQUEST);
    expect(made).toHaveLength(1);
    made[0].answer(1, { error: 'b' });
    made[0].answer(0, { error: 'a' });
    expect(heard[0].mock.calls).toEqual([[{ id: 1, error: 'a' }]]);
    expect(heard[1].mock.calls).toEqual([[{ id: 1, error: 'b' }]]);
  });

  it('terminates the worker with its last user and creates another on demand', () => {
    const { made, hub } = setUp();
    const [a, b] = [hub.connect(), hub.connect()];
    a.onmessage = vi.fn();
    a.postMessage(REQUEST);
    a.terminate();
    expect(made[0].ended).toBe(false);
    made[0].answer(0, {});
    expect(a.onmessage).not.toHaveBeenCalled();
    b.terminate();
    expect(made[0].ended).toBe(true);
    hub.connect();
    expect(made).toHaveLength(2);
  });

  it('every engine gets its layout if the worker breaks', async () => {
    const { made, hub } = setUp();
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    const engines = [0, 1].map(() => new WorkerEngine(() => hub.connect(), 0));
    const input = { itemCount: 0 } as unknown as ILayoutInput;
    vi.mocked(layered).mockReturnValue('laid out' as never);
    const results = engines.map(engine => engine.layout(input, {} as never));
    made[0].onerror?.(new ErrorEvent('error', { message: 'gone' }));
    expect(await Promise.all(results)).toEqual(['laid out', 'laid out']);
    expect(made[0].ended).toBe(true);
    expect(warn).toHaveBeenCalledTimes(2);
    // The worker never answered: this page allows none, and no other engine tries again.
    expect(() => hub.connect()).toThrow('allows no workers');
    expect(made).toHaveLength(1);
    warn.mockRestore();
  });
});

vi.mock('../core/layout/layered/layered', () => ({ layered: vi.fn() }));
