/** Starts analyses on the server, also before the viewer is loaded. */

import type { FileStamp, Job } from '../schema';
import { Connection, type IHttpRequest } from './connection';
import type { IServerConnection } from './connection';
import { isAbort, ProblemError, type ILoadOptions } from './provider';

/** Rule options: the contents or the path of a threshold file, and whether weights are read. */
export interface IRuleOptions {
  readonly thresholds?: Readonly<Record<string, unknown>> | string;
  readonly readWeights?: boolean;
}

/** A started analysis. */
export interface IStartedJob {
  readonly job: Job;
  /** Stamp of the file before it started; null if the server cannot provide it. */
  readonly stamp: FileStamp | null;
}

/** A POST request with a JSON body. */
export function jsonBody(body: object): IHttpRequest {
  return {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'Content-Type': 'application/json' }
  };
}

/** Result for a file that no longer exists. */
export const GONE = 'gone';

/** The stamp, or null if the file is gone. */
export function stampOf(
  stamp: FileStamp | typeof GONE | null
): FileStamp | null {
  return stamp === GONE ? null : stamp;
}

/** Null if the server cannot provide it; the file is then assumed to be unchanged. */
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

/** Body of the request for an analysis. */
function analysisRequest(
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

/** Starts the analysis of a file, or finds an existing one with the same options. */
export function startJob(
  connection: Connection,
  path: string,
  options: ILoadOptions,
  rules: IRuleOptions,
  signal?: AbortSignal
): Promise<Job> {
  return connection.json<Job>('jobs', {
    ...jsonBody(analysisRequest(path, options, rules)),
    signal
  });
}

/** Releases a job that is no longer needed: the server cancels it unless others wait for it. */
export function releaseJob(connection: Connection, job: Job): void {
  connection.deleteWithoutWaiting(`jobs/${encodeURIComponent(job.id)}`);
}

/** Options of a prefetched analysis. */
export interface IPrefetchOptions {
  readonly options: ILoadOptions;
  readonly rules: IRuleOptions;
}

/**
 * An analysis started while the viewer is still loading. Whoever takes it owns it; one that is never
 * taken is released.
 */
export class PrefetchedAnalysis {
  private readonly _connection: Connection;
  private readonly _started: Promise<
    (IStartedJob & { request: string }) | null
  >;
  private _isTaken = false;

  /** `prefetchOptions` gives the options that the viewer will use; null if they are not known yet. */
  constructor(
    host: IServerConnection,
    readonly path: string,
    prefetchOptions: Promise<IPrefetchOptions | null>
  ) {
    this._connection = new Connection(host);
    this._started = this._start(prefetchOptions);
  }

  /** Returns the started analysis, once; null if it has other options or could not be started. */
  async takeJob(
    options: ILoadOptions,
    rules: IRuleOptions,
    signal: AbortSignal
  ): Promise<IStartedJob | null> {
    if (this._isTaken) {
      return null;
    }
    this._isTaken = true;
    const started = await this._started;
    if (!started) {
      return null;
    }
    const request = JSON.stringify(analysisRequest(this.path, options, rules));
    if (signal.aborted || request !== started.request) {
      releaseJob(this._connection, started.job);
      return null;
    }
    return started;
  }

  /** Releases the analysis if it was not taken. */
  dispose(): void {
    if (!this._isTaken) {
      this._isTaken = true;
      void this._started.then(
        started => started && releaseJob(this._connection, started.job)
      );
    }
  }

  private async _start(
    prefetchOptions: Promise<IPrefetchOptions | null>
  ): Promise<(IStartedJob & { request: string }) | null> {
    try {
      const guessedOptions = await prefetchOptions;
      if (!guessedOptions || this._isTaken) {
        return null;
      }
      const { options, rules } = guessedOptions;
      const stamp = stampOf(await readStamp(this._connection, this.path));
      const job = await startJob(this._connection, this.path, options, rules);
      const request = JSON.stringify(
        analysisRequest(this.path, options, rules)
      );
      return { job, stamp, request };
    } catch (error) {
      if (!(error instanceof ProblemError) && !isAbort(error)) {
        console.warn('ONNX Autodoc: the analysis began late', error);
      }
      // The viewer tries again and reports the problem.
      return null;
    }
  }
}
