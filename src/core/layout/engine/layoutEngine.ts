/** Runs layouts: on this thread, or in a worker for levels that would freeze the page. */

import type { IRowOptions } from '../rows/rowedResult';
import type {
  ILayoutInput,
  ILayoutOptions,
  ILayoutResult
} from '../layered/layoutTypes';
import { runLayoutWork } from './layoutWork';
import type { LayoutWork } from './layoutWork';

/** Runs one layout. Results of small levels are synchronous, so that callers need not wait. */
export interface ILayoutEngine {
  layout(
    input: ILayoutInput,
    options: ILayoutOptions
  ): ILayoutResult | Promise<ILayoutResult>;
  /** Wraps a layout into rows. */
  inRows(
    input: ILayoutInput,
    straight: ILayoutResult,
    options: IRowOptions
  ): ILayoutResult | Promise<ILayoutResult>;
  dispose(): void;
}

/** Message to the worker. */
export type ILayoutRequest = LayoutWork & { readonly id: number };

/** Message from the worker: a result or an error. */
export interface ILayoutAnswer {
  readonly id: number;
  readonly result?: ILayoutResult;
  readonly error?: string;
}

/** The part of `Worker` the engine uses. */
export interface ILayoutWorker {
  onmessage: ((event: MessageEvent<ILayoutAnswer>) => void) | null;
  onerror: ((event: ErrorEvent) => void) | null;
  postMessage(message: ILayoutRequest): void;
  terminate(): void;
}

/** Minimum number of items for a level to be laid out in the worker. */
const WORKER_THRESHOLD = 3000;

/** Lays out on this thread. */
export class InlineEngine implements ILayoutEngine {
  layout(input: ILayoutInput, options: ILayoutOptions): ILayoutResult {
    return runLayoutWork({ input, options });
  }

  inRows(
    input: ILayoutInput,
    straight: ILayoutResult,
    rows: IRowOptions
  ): ILayoutResult {
    return runLayoutWork({ input, straight, rows });
  }

  dispose(): void {
    // There is nothing to release.
  }
}

/** Runs a request inside the worker. */
export function runLayoutRequest(request: ILayoutRequest): ILayoutAnswer {
  try {
    return { id: request.id, result: runLayoutWork(request) };
  } catch (error) {
    return { id: request.id, error: String(error) };
  }
}

/** Buffers of a result, to be transferred rather than copied. */
export function transferables(result: ILayoutResult): ArrayBufferLike[] {
  return [
    result.x.buffer,
    result.y.buffer,
    result.rank.buffer,
    result.pointOffsets.buffer,
    result.points.buffer
  ];
}

interface IPending {
  readonly request: ILayoutRequest;
  resolve(result: ILayoutResult): void;
}

/**
 * Sends large levels to a worker, created lazily. If the worker cannot be created or fails (a page may
 * forbid it), layouts run on this thread instead: slower, but never missing.
 */
export class WorkerEngine implements ILayoutEngine {
  constructor(
    makeWorker: () => ILayoutWorker,
    threshold: number = WORKER_THRESHOLD
  ) {
    this._makeWorker = makeWorker;
    this._threshold = threshold;
  }

  layout(
    input: ILayoutInput,
    options: ILayoutOptions
  ): ILayoutResult | Promise<ILayoutResult> {
    return this._send({ input, options });
  }

  inRows(
    input: ILayoutInput,
    straight: ILayoutResult,
    rows: IRowOptions
  ): ILayoutResult | Promise<ILayoutResult> {
    return this._send({ input, straight, rows });
  }

  private _send(work: LayoutWork): ILayoutResult | Promise<ILayoutResult> {
    const worker =
      work.input.itemCount >= this._threshold ? this._ensureWorker() : null;
    if (!worker) {
      return runLayoutWork(work);
    }
    const request = { ...work, id: ++this._lastId };
    return new Promise(resolve => {
      this._pending.set(request.id, { request, resolve });
      worker.postMessage(request);
    });
  }

  dispose(): void {
    this._worker?.terminate();
    this._worker = null;
    this._broken = true;
    this._pending.clear();
  }

  private _ensureWorker(): ILayoutWorker | null {
    if (this._worker || this._broken) {
      return this._worker;
    }
    try {
      this._worker = this._makeWorker();
    } catch (error) {
      console.warn('No layout worker; layout runs on the page.', error);
      this._broken = true;
      return null;
    }
    this._worker.onmessage = event => this._receive(event.data);
    // There is no message if the page's content security policy blocks the worker.
    this._worker.onerror = event =>
      this._giveUp(event.message ?? 'the page allows none');
    return this._worker;
  }

  private _receive(data: ILayoutAnswer): void {
    const pending = this._pending.get(data.id);
    this._pending.delete(data.id);
    if (!pending) {
      return;
    }
    if (data.result) {
      pending.resolve(data.result);
    } else {
      console.warn(`Layout worker failed: ${data.error}`);
      pending.resolve(runLayoutWork(pending.request));
    }
  }

  /** Stops using the worker and runs its pending requests on this thread. */
  private _giveUp(message: string): void {
    console.warn(`Layout worker stopped: ${message}`);
    this._worker?.terminate();
    this._worker = null;
    this._broken = true;
    for (const { request, resolve } of this._pending.values()) {
      resolve(runLayoutWork(request));
    }
    this._pending.clear();
  }

  private readonly _makeWorker: () => ILayoutWorker;
  private readonly _threshold: number;
  private readonly _pending = new Map<number, IPending>();
  private _worker: ILayoutWorker | null = null;
  private _broken = false;
  private _lastId = 0;
}
