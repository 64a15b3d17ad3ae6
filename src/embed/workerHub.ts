/** Shares one worker among many layout engines, each of which sees a worker of its own. */

import type {
  ILayoutAnswer,
  ILayoutRequest,
  ILayoutWorker
} from '../core/layout/engine/layoutEngine';

interface IWaiting {
  readonly client: Client;
  /** The client's own request number. */
  readonly id: number;
}

class Client implements ILayoutWorker {
  onmessage: ILayoutWorker['onmessage'] = null;
  onerror: ILayoutWorker['onerror'] = null;

  constructor(private readonly _hub: WorkerHub) {}

  postMessage(message: ILayoutRequest): void {
    this._hub.post(this, message);
  }

  terminate(): void {
    this._hub.leave(this);
  }
}

export class WorkerHub {
  private readonly _clients = new Set<Client>();
  private readonly _waiting = new Map<number, IWaiting>();
  private _worker: ILayoutWorker | null = null;
  private _lastId = 0;
  private _answered = false;
  private _refused = false;

  constructor(private readonly _make: () => ILayoutWorker) {}

  /** Connects another engine to the worker. Throws if none can be created. */
  connect(): ILayoutWorker {
    if (this._refused) {
      throw new Error('This page allows no workers.');
    }
    this._worker ??= this._start();
    const client = new Client(this);
    this._clients.add(client);
    return client;
  }

  post(client: Client, message: ILayoutRequest): void {
    const id = ++this._lastId;
    this._waiting.set(id, { client, id: message.id });
    this._worker?.postMessage({ ...message, id });
  }

  /** Terminates the worker when its last client leaves. */
  leave(client: Client): void {
    this._clients.delete(client);
    for (const [id, request] of this._waiting) {
      if (request.client === client) {
        this._waiting.delete(id);
      }
    }
    if (this._clients.size === 0) {
      this._worker?.terminate();
      this._worker = null;
    }
  }

  private _start(): ILayoutWorker {
    const worker = this._make();
    worker.onmessage = event => this._answer(event);
    worker.onerror = event => {
      // The error that a page's content security policy causes; the policy does not change.
      this._refused = !this._answered;
      // From now on each engine lays out on its own thread, and leaves.
      for (const client of [...this._clients]) {
        client.onerror?.(event);
      }
    };
    return worker;
  }

  private _answer(event: MessageEvent<ILayoutAnswer>): void {
    this._answered = true;
    const request = this._waiting.get(event.data.id);
    this._waiting.delete(event.data.id);
    const data = { ...event.data, id: request?.id ?? 0 };
    request?.client.onmessage?.(new MessageEvent('message', { data }));
  }
}
