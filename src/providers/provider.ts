/**
 * The viewer's data source. A host (JupyterLab, notebook, one-file page) passes a provider; the viewer
 * itself knows nothing of servers.
 */

import type {
  BatchAnswer,
  ComparisonColumns,
  Extracted,
  GraphPayload,
  NodeDetails,
  Problem,
  Report,
  ReportDocument,
  SavedFile,
  ServingPlans,
  Task,
  TaskResult,
  WeightFile,
  WeightValues,
  TaskRequest
} from '../schema';

/** Options of an analysis. Unset symbols stay symbols unless `assume` is set. */
export interface ILoadOptions {
  readonly bindings: Readonly<Record<string, number>>;
  readonly inputShapes?: Readonly<Record<string, readonly number[]>>;
  /** Binds every unset symbol to a typical value; the payload's `dims[].assumed` marks them. */
  readonly assume: boolean;
}

/** Progress of an analysis. A `total` of 0 is unknown. */
export interface IProgress {
  readonly phase: string;
  readonly done: number;
  readonly total: number;
}

/** State of a loaded file: unchanged, changed, or no longer there. */
export type FileState = 'same' | 'changed' | 'gone';

/** A device by id; precision and runtime are empty for the defaults. */
export interface IServingChoice {
  readonly device: string;
  readonly precision: string;
  readonly runtime?: string;
}

/** A file from the user, or the path of one known to the host. */
export type GivenFile = File | string;

/** Formats of files that need more than the drawing. */
export type FileFormat = 'html' | 'netron' | 'model-explorer';

export interface IReportProvider {
  /** Name without extension or folders, for files that the user saves. */
  readonly exportName: string;
  /** True if symbols cannot be set, because there is nothing to analyse the model again. */
  readonly fixedDims?: boolean;
  /** Rejects with a `ProblemError`, or with an `AbortError` once `signal` is aborted. */
  load(
    options: ILoadOptions,
    onProgress: (progress: IProgress) => void,
    signal: AbortSignal
  ): Promise<GraphPayload>;
  /**
   * Analyses the model at other sizes; the loaded one does not change. Absent without a server or kernel;
   * rejects as `load` does.
   */
  sized?(
    bindings: ILoadOptions['bindings'],
    signal: AbortSignal
  ): Promise<GraphPayload>;
  /** Details of a node of the last loaded payload. Rejects as `load` does. */
  details(node: number, signal: AbortSignal): Promise<NodeDetails>;
  /**
   * Costs at other batches, for a model with a fixed batch. Absent without a server or kernel; rejects as
   * `load` does.
   */
  batch?(signal: AbortSignal): Promise<BatchAnswer>;
  /** Reads the values of a constant tensor. Absent without a server or kernel. */
  weights?(tensor: number, signal: AbortSignal): Promise<WeightValues>;
  /** Reads all values of a constant tensor as a `.npy` file. Absent without a server or kernel. */
  weightFile?(tensor: number, signal: AbortSignal): Promise<WeightFile>;
  /**
   * Writes nodes as a separate model next to the original; `name` names it. Absent without a server or
   * kernel.
   */
  extract?(
    nodes: readonly number[],
    name: string,
    signal: AbortSignal
  ): Promise<Extracted>;
  /**
   * The model as a file: `html`, or its values of one `metric` for `netron` or `model-explorer`. Absent
   * without a server or kernel.
   */
  file?(
    format: FileFormat,
    metric: string,
    signal: AbortSignal
  ): Promise<SavedFile>;
  /**
   * The structural alignment with the nodes of another provider's model. Absent without a server, a
   * kernel or an embedded alignment; null if there is none for that model.
   */
  compare?(
    other: IReportProvider,
    signal: AbortSignal
  ): Promise<ComparisonColumns | null>;
  /**
   * Starts the computation for `compare` while the models are still loading. Absent if it takes no time.
   * Never rejects.
   */
  expectComparison?(other: IReportProvider, signal: AbortSignal): void;
  report?(signal: AbortSignal): Promise<Report>;
  /**
   * Runs a task that executes the model or writes another one; `path` of the result can be opened by the
   * host. Absent without a server. Rejects as `load` does; aborting stops the task.
   */
  task?(
    order: TaskOrder,
    onChange: (task: Task) => void,
    signal: AbortSignal
  ): Promise<TaskResult>;
  /**
   * Attributes times measured elsewhere to the nodes: a profile, for TensorRT with its layer information.
   * Absent without a server or kernel. Rejects as `load` does.
   */
  profile?(
    files: readonly GivenFile[],
    onChange: (task: Task) => void,
    signal: AbortSignal
  ): Promise<TaskResult>;
  /** The host's path of the model, used by tasks with two models to name the other one. */
  readonly path?: string;
  /** The report as a document. Absent without a server or kernel. Rejects as `load` does. */
  sections?(signal: AbortSignal): Promise<ReportDocument>;
  /**
   * Plans for text generation on a device; null if nothing is known for it. Absent without a server or
   * kernel. Rejects as `load` does.
   */
  serving?(
    choice: IServingChoice,
    signal: AbortSignal
  ): Promise<ServingPlans | null>;
  /** Prints the report. Absent if the viewer is embedded in another page. */
  print?(): void;
  /** State of the loaded file. Absent if the file cannot change. */
  fileState?(signal: AbortSignal): Promise<FileState>;
}

/** A failure in a form that can be shown: what, where, what to do. */
export class ProblemError extends Error {
  constructor(readonly problem: Problem) {
    super(problem.detail || problem.title);
    this.name = 'ProblemError';
  }
}

/** A problem that occurred in the viewer rather than on the server. */
export function localProblem(
  code: string,
  title: string,
  detail: string,
  hint: string,
  status = 0
): Problem {
  return { type: 'about:blank', title, status, detail, code, hint };
}

/** Converts any thrown value to a problem; never throws. */
export function problemOf(error: unknown): Problem {
  if (error instanceof ProblemError) {
    return error.problem;
  }
  const detail = error instanceof Error ? error.message : String(error);
  return localProblem(
    'viewer-error',
    'The viewer could not show this model',
    detail,
    'Retry. If it fails again, report it with the text above.'
  );
}

export function isAbort(error: unknown): boolean {
  return error instanceof Error
    ? error.name === 'AbortError'
    : typeof DOMException !== 'undefined' &&
        error instanceof DOMException &&
        error.name === 'AbortError';
}

export function abortError(): Error {
  const error = new Error('Aborted');
  error.name = 'AbortError';
  return error;
}

/**
 * A task requested by the viewer; the model is the provider's, its other files are next to it or at a
 * path from the root.
 */
export type TaskOrder = Partial<Omit<TaskRequest, 'path'>> &
  Pick<TaskRequest, 'kind'>;
