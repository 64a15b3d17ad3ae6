/** How an analysis begins on the server, and one that begins before the viewer is there. */

import type { FileStamp, Job } from '../schema';
import { Connection, type IHttpRequest } from './connection';
import type { IServerConnection } from './connection';
import { isAbort, ProblemError, type ILoadOptions } from './provider';

/** How findings are made: what a threshold file holds or the path of one, and whether weights are read. */
export interface IRuleOptions {
  readonly thresholds?: Readonly<Record<string, unknown>> | string;
  readonly readWeights?: boolean;
}

/** An analysis that was begun. */
export interface IStartedJob {
  readonly job: Job;
  /** The file before it began; null when the server cannot say. */
  readonly stamp: FileStamp | null;
}

/** A body to send. */
export function jsonBody(body: object): IHttpRequest {
  return {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'Content-Type': 'application/json' }
  };
}

/** Where a file is no longer there. */
export const GONE = 'gone';

/** The stamp of a file that is there. */
export function stampOf(
  found: FileStamp | typeof GONE | null
): FileStamp | null {
  return found === GONE ? null : found;
}

/** Null when the server cannot say; the file is then taken as unchanged. */
export async function readStamp(
  connection: Connection,
  path: string,
  signal?: AbortSignal
): Promise<FileStamp | typeof GONE | null> {
  try {
    return await connection.json<FileStamp>(
      `files?path=${encodeURIComponent(path)}`,
      { signal }
    );
  } catch (error) {
    if (error instanceof ProblemError) {
      return error.problem.code === 'file-not-found' ? GONE : null;
    }
    throw error;
  }
}

/** What is asked of the server, as it stands in the request. */
function question(
  path: string,
  options: ILoadOptions,
  { thresholds, readWeights }: IRuleOptions
): object {
  return {
    path,
    bindings: options.bindings,
    input_shapes: options.inputShapes ?? {},
    assume: options.assume,
    ...(thresholds !== undefined && { thresholds }),
    ...(readWeights && { read_weights: true })
  };
}

/** Starts the analysis of a file, or finds the one of the same file and options. */
export function startJob(
  connection: Connection,
  path: string,
  options: ILoadOptions,
  rules: IRuleOptions,
  signal?: AbortSignal
): Promise<Job> {
  return connection.json<Job>('jobs', {
    ...jsonBody(question(path, options, rules)),
    signal
  });
}

/** Nobody waits for the job any longer: the server ends it unless others do. */
export function releaseJob(connection: Connection, job: Job): void {
  connection.deleteWithoutWaiting(`jobs/${encodeURIComponent(job.id)}`);
}

/** What an analysis will be made with. */
export interface IPrefetchOptions {
  readonly options: ILoadOptions;
  readonly rules: IRuleOptions;
}

/**
 * An analysis that begins while the viewer is still being fetched. Whoever takes it has it alone; one that
 * nobody takes is withdrawn.
 */
export class PrefetchedAnalysis {
  private readonly _connection: Connection;
  private readonly _started: Promise<(IStartedJob & { asked: string }) | null>;
  private _over = false;

  /** `guess` tells with what the viewer will ask; null when that cannot be known yet. */
  constructor(
    host: IServerConnection,
    readonly path: string,
    guess: Promise<IPrefetchOptions | null>
  ) {
    this._connection = new Connection(host);
    this._started = this._start(guess);
  }

  /** The analysis that was begun, the first time; null when it is another one or could not be begun. */
  async take(
    options: ILoadOptions,
    rules: IRuleOptions,
    signal: AbortSignal
  ): Promise<IStartedJob | null> {
    if (this._over) {
      return null;
    }
    this._over = true;
    const started = await this._started;
    if (!started) {
      return null;
    }
    const asked = JSON.stringify(question(this.path, options, rules));
    if (signal.aborted || asked !== started.asked) {
      releaseJob(this._connection, started.job);
      return null;
    }
    return started;
  }

  /** Withdraws what nobody took. */
  dispose(): void {
    if (!this._over) {
      this._over = true;
      void this._started.then(
        started => started && releaseJob(this._connection, started.job)
      );
    }
  }

  private async _start(
    guess: Promise<IPrefetchOptions | null>
  ): Promise<(IStartedJob & { asked: string }) | null> {
    try {
      const known = await guess;
      if (!known || this._over) {
        return null;
      }
      const { options, rules } = known;
      const stamp = stampOf(await readStamp(this._connection, this.path));
      const job = await startJob(this._connection, this.path, options, rules);
      const asked = JSON.stringify(question(this.path, options, rules));
      return { job, stamp, asked };
    } catch (error) {
      if (!(error instanceof ProblemError) && !isAbort(error)) {
        console.warn('ONNX Autodoc: the analysis began late', error);
      }
      // The viewer asks again, and says what is wrong.
      return null;
    }
  }
}
