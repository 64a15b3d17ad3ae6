/**
 * Provider for the Jupyter server extension. Imports no `@jupyterlab` package: hosts pass the connection.
 */

import type {
  BatchAnswer,
  ComparisonColumns,
  Extracted,
  FileStamp,
  GraphPayload,
  Job,
  NodeDetails,
  Report,
  ReportDocument,
  SavedFile,
  ServingPlans,
  Task,
  TaskResult,
  WeightFile,
  WeightValues
} from '../schema';
import { JobWatcher } from './jobWatcher';
import type { IServerConnection } from './connection';
import { Connection } from './connection';
import type {
  FileFormat,
  FileState,
  GivenFile,
  ILoadOptions,
  IProgress,
  IReportProvider,
  IServingChoice,
  TaskOrder
} from './provider';
import { ProblemError, abortError, localProblem } from './provider';
import {
  GONE,
  jsonBody,
  readStamp,
  stampOf,
  startJob,
  releaseJob,
  type PrefetchedAnalysis,
  type IRuleOptions,
  type IStartedJob
} from './analysisStart';

import { followProfile, followTask } from './followTask';

/** Problems that a new analysis would not solve. */
const PERMANENT_PROBLEMS = new Set([
  'unknown-weight',
  'not-a-weight',
  'unknown-node',
  'file-not-found'
]);

export class ServerProvider implements IReportProvider {
  readonly exportName: string;
  private readonly _connection: Connection;
  private readonly _path: string;
  private _job: Job | null = null;
  /** The first job: once started, and once done. */
  private readonly _begun = new Deferred<Job>();
  private readonly _analysed = new Deferred<Job>();
  private readonly _expected = new WeakMap<
    ServerProvider,
    Promise<IEarlyComparison | null>
  >();
  private _options: ILoadOptions = { bindings: {}, assume: true };
  private _stamp: FileStamp | null = null;

  /**
   * `path` is the server's (contents API) path of the file; `rules` is called for each analysis;
   * `prefetched` is a prefetched first analysis.
   */
  constructor(
    connection: IServerConnection,
    path: string,
    private readonly _rules: () => IRuleOptions = () => ({}),
    private _prefetched: PrefetchedAnalysis | null = null
  ) {
    this._connection = new Connection(connection);
    this._path = path;
    const base = path.split('/').pop() ?? path;
    this.exportName = base.replace(/\.onnx$/i, '') || 'model';
  }

  async load(
    options: ILoadOptions,
    onProgress: (progress: IProgress) => void,
    signal: AbortSignal
  ): Promise<GraphPayload> {
    const started = await this._begin(options, signal);
    this._begun.resolve(started.job);
    const job = await this._follow(started.job, onProgress, signal);
    this._analysed.resolve(job);
    const payload = await this._connection.json<GraphPayload>(
      `jobs/${encodeURIComponent(job.id)}/graph`,
      { signal }
    );
    this._stamp = started.stamp;
    this._job = job;
    this._options = options;
    return payload;
  }

  async sized(
    bindings: ILoadOptions['bindings'],
    signal: AbortSignal
  ): Promise<GraphPayload> {
    const started = await this._start({ bindings, assume: true }, signal);
    const job = await this._follow(started, () => undefined, signal);
    return this._connection.json<GraphPayload>(
      `jobs/${encodeURIComponent(job.id)}/graph`,
      { signal }
    );
  }

  async details(node: number, signal: AbortSignal): Promise<NodeDetails> {
    return this._ofJob<NodeDetails>(`nodes/${node}`, signal);
  }

  async batch(signal: AbortSignal): Promise<BatchAnswer> {
    return this._ofJob<BatchAnswer>('batch', signal);
  }

  async weights(tensor: number, signal: AbortSignal): Promise<WeightValues> {
    return this._ofJob<WeightValues>(`weights?tensor=${tensor}`, signal);
  }

  async weightFile(tensor: number, signal: AbortSignal): Promise<WeightFile> {
    return this._ofJob<WeightFile>(`weights/npy?tensor=${tensor}`, signal);
  }

  async extract(
    nodes: readonly number[],
    name: string,
    signal: AbortSignal
  ): Promise<Extracted> {
    return this._ofJob<Extracted>('extract', signal, {
      path: this._path,
      nodes,
      part: name
    });
  }

  async file(
    format: FileFormat,
    metric: string,
    signal: AbortSignal
  ): Promise<SavedFile> {
    const query = metric ? `?metric=${encodeURIComponent(metric)}` : '';
    return this._ofJob<SavedFile>(`files/${format}${query}`, signal);
  }

  async compare(
    other: IReportProvider,
    signal: AbortSignal
  ): Promise<ComparisonColumns | null> {
    if (!(other instanceof ServerProvider) || !other._job) {
      return null;
    }
    const early = await this._expected.get(other);
    this._expected.delete(other);
    return early?.of[0] === this._job?.id && early?.of[1] === other._job.id
      ? early.columns
      : this._ofJob<ComparisonColumns>(comparisonWith(other._job), signal);
  }

  /** The server can align this model with one that it is still analysing for the other view. */
  expectComparison(other: IReportProvider, signal: AbortSignal): void {
    if (other instanceof ServerProvider) {
      const early = this._compareEarly(other, signal).catch(() => null);
      this._expected.set(other, early);
    }
  }

  private async _compareEarly(
    other: ServerProvider,
    signal: AbortSignal
  ): Promise<IEarlyComparison> {
    const jobs = [this._analysed.promise, other._begun.promise] as const;
    const [ownJob, otherJob] = await Promise.all(jobs);
    const columns = await this._connection.json<ComparisonColumns>(
      `jobs/${encodeURIComponent(ownJob.id)}/${comparisonWith(otherJob)}`,
      { signal }
    );
    return { of: [ownJob.id, otherJob.id], columns };
  }

  async report(signal: AbortSignal): Promise<Report> {
    return this._ofJob<Report>('report', signal);
  }

  async sections(signal: AbortSignal): Promise<ReportDocument> {
    return this._ofJob<ReportDocument>('sections', signal);
  }

  async serving(
    { device, precision, runtime = '' }: IServingChoice,
    signal: AbortSignal
  ): Promise<ServingPlans> {
    const query = new URLSearchParams({ device, precision, runtime });
    return this._ofJob<ServingPlans>(`serving?${query}`, signal);
  }

  task(
    order: TaskOrder,
    onChange: (task: Task) => void,
    signal: AbortSignal
  ): Promise<TaskResult> {
    return followTask(this._connection, this._path, order, onChange, signal);
  }

  profile(
    files: readonly GivenFile[],
    onChange: (task: Task) => void,
    signal: AbortSignal
  ): Promise<TaskResult> {
    return followProfile(this._connection, this._path, files, onChange, signal);
  }

  get path(): string {
    return `/${this._path}`;
  }

  async fileState(signal: AbortSignal): Promise<FileState> {
    if (this._stamp === null) {
      return 'same';
    }
    const now = await readStamp(this._connection, this._path, signal);
    if (now === null || now === GONE) {
      return now === GONE ? 'gone' : 'same';
    }
    const { bytes, mtime_ns } = this._stamp;
    return now.bytes === bytes && now.mtime_ns === mtime_ns
      ? 'same'
      : 'changed';
  }

  /** Starts (or finds) the job, after reading the file's stamp. */
  private async _begin(
    options: ILoadOptions,
    signal: AbortSignal
  ): Promise<IStartedJob> {
    const prefetched = this._prefetched;
    this._prefetched = null;
    const started = await prefetched?.takeJob(options, this._rules(), signal);
    if (started) {
      return started;
    }
    const stamp = stampOf(
      await readStamp(this._connection, this._path, signal)
    );
    return { stamp, job: await this._start(options, signal) };
  }

  private _start(options: ILoadOptions, signal: AbortSignal): Promise<Job> {
    const { _connection, _path } = this;
    return startJob(_connection, _path, options, this._rules(), signal);
  }

  /** Waits for a job to end; aborting cancels it on the server. */
  private async _follow(
    started: Job,
    onProgress: (progress: IProgress) => void,
    signal: AbortSignal
  ): Promise<Job> {
    try {
      const watcher = new JobWatcher(this._connection, started, job =>
        onProgress({ phase: job.phase, done: job.done, total: job.total })
      );
      return requireDone(await watcher.wait(signal));
    } catch (error) {
      if (signal.aborted) {
        releaseJob(this._connection, started);
        throw abortError();
      }
      throw error;
    }
  }

  /** Reads a resource of the current job; requests the job again if the server no longer has it. */
  private async _ofJob<T>(
    resource: string,
    signal: AbortSignal,
    /** If given, posted. */
    body?: object
  ): Promise<T> {
    const job = this._job;
    if (job === null) {
      throw new ProblemError(
        localProblem(
          'not-loaded',
          'The model is not loaded',
          'There is no analysis to read from.',
          'Reload the model.'
        )
      );
    }
    const read = (id: string): Promise<T> =>
      this._connection.json<T>(`jobs/${encodeURIComponent(id)}/${resource}`, {
        ...(body && jsonBody(body)),
        signal
      });
    try {
      return await read(job.id);
    } catch (error) {
      if (
        !(error instanceof ProblemError) ||
        error.problem.status !== 404 ||
        PERMANENT_PROBLEMS.has(error.problem.code)
      ) {
        throw error;
      }
      const renewed = await this._follow(
        await this._start(this._options, signal),
        () => undefined,
        signal
      );
      if (renewed.id === job.id) {
        throw error;
      }
      this._job = renewed;
      return read(renewed.id);
    }
  }
}

/** A comparison requested before both models were shown, and its jobs. */
interface IEarlyComparison {
  readonly of: readonly [string, string];
  readonly columns: ComparisonColumns;
}

function comparisonWith(job: Job): string {
  return `comparison?other=${encodeURIComponent(job.id)}`;
}

/** A promise that is resolved from outside, once. */
class Deferred<T> {
  resolve: (value: T) => void = () => undefined;
  readonly promise = new Promise<T>(resolve => (this.resolve = resolve));
}

/** Returns a finished job; throws its problem otherwise. */
function requireDone(job: Job): Job {
  if (job.state === 'done') {
    return job;
  }
  if (job.problem) {
    throw new ProblemError(job.problem);
  }
  throw new ProblemError(
    localProblem(
      job.state === 'cancelled' ? 'cancelled' : 'analysis-failed',
      job.state === 'cancelled'
        ? 'The analysis was cancelled'
        : 'The analysis failed',
      `It ended in the state “${job.state}” during “${job.phase}”.`,
      'Retry.'
    )
  );
}
