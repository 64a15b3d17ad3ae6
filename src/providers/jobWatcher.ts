/** Follows a job to its end: by WebSocket, or by polling if the socket does not work. */

import type { Job } from '../schema';
import type { Connection, ISocket } from './connection';
import { ProblemError, abortError } from './provider';

const TERMINAL = new Set(['done', 'failed', 'cancelled']);
/** Silence after which a socket is considered dead (some proxies drop the upgrade). */
const SILENCE_MS = 3000;
const POLL_MS = 500;
/** Consecutive failed polls before giving up. */
const MAX_FAILURES = 6;

export class JobWatcher {
  private _last: Job;

  constructor(
    private readonly _connection: Connection,
    job: Job,
    private readonly _onChange: (job: Job) => void
  ) {
    this._last = job;
  }

  /** The job in a terminal state. Rejects with `AbortError` or `ProblemError`. */
  async wait(signal: AbortSignal): Promise<Job> {
    this._onChange(this._last);
    if (!this._ended) {
      await this._bySocket(signal);
    }
    if (!this._ended) {
      await this._byPolling(signal);
    }
    return this._last;
  }

  private get _ended(): boolean {
    return TERMINAL.has(this._last.state);
  }

  private _accept(job: Job): void {
    const newer =
      job.id === this._last.id &&
      (job.seq > this._last.seq || TERMINAL.has(job.state));
    if (newer && !this._ended) {
      this._last = job;
      this._onChange(job);
    }
  }

  /** Resolves when the job has ended or the socket is useless. */
  private _bySocket(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      let socket: ISocket;
      try {
        socket = this._connection.socket(
          `jobs/${encodeURIComponent(this._last.id)}/ws`
        );
      } catch {
        // No sockets here (blocked, or an invalid URL): polling does the same, more slowly.
        resolve();
        return;
      }
      const silence = new AbortController();
      const finish = (error?: Error): void => {
        silence.abort();
        signal.removeEventListener('abort', stop);
        socket.onmessage = socket.onerror = socket.onclose = null;
        socket.close();
        if (error) {
          reject(error);
        } else {
          resolve();
        }
      };
      const stop = (): void => finish(abortError());
      socket.onmessage = event => {
        silence.abort();
        const job = parseJob(event.data);
        if (job === null) {
          finish();
          return;
        }
        this._accept(job);
        if (this._ended) {
          finish();
        }
      };
      socket.onerror = () => finish();
      socket.onclose = () => finish();
      signal.addEventListener('abort', stop, { once: true });
      this._connection.delay(SILENCE_MS, silence.signal).then(
        () => finish(),
        () => undefined
      );
      if (signal.aborted) {
        stop();
      }
    });
  }

  private async _byPolling(signal: AbortSignal): Promise<void> {
    const resource = `jobs/${encodeURIComponent(this._last.id)}`;
    let failures = 0;
    while (!this._ended) {
      try {
        this._accept(await this._connection.json<Job>(resource, { signal }));
        failures = 0;
      } catch (error) {
        // The server may be busy or restarting; a definite response ends it at once.
        const passing =
          error instanceof ProblemError &&
          (error.problem.status === 0 || error.problem.status >= 500);
        failures += 1;
        if (!passing || failures >= MAX_FAILURES) {
          throw error;
        }
      }
      if (!this._ended) {
        await this._connection.delay(POLL_MS * (failures + 1), signal);
      }
    }
  }
}

function parseJob(data: unknown): Job | null {
  if (typeof data !== 'string') {
    return null;
  }
  try {
    const value: unknown = JSON.parse(data);
    const isJob =
      typeof value === 'object' &&
      value !== null &&
      'id' in value &&
      'state' in value &&
      'seq' in value;
    return isJob ? (value as Job) : null;
  } catch {
    return null;
  }
}
