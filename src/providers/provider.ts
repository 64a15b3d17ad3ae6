/**
 * Where the viewer gets its data. A host (JupyterLab, notebook, one-file page) passes one of these;
 * the viewer knows nothing of servers.
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

/** What to analyse the model with. Symbols left out stay symbols unless `assume` is set. */
export interface ILoadOptions {
  readonly bindings: Readonly<Record<string, number>>;
  readonly inputShapes?: Readonly<Record<string, readonly number[]>>;
  /** Give every unbound symbol its suggested value; the payload's `dims[].assumed` says which. */
  readonly assume: boolean;
}

/** How far an analysis is. `total` of 0: unknown. */
export interface IProgress {
  readonly phase: string;
  readonly done: number;
  readonly total: number;
}

/** Of a file that was loaded: as it was, another one, or no longer there. */
export type FileState = 'same' | 'changed' | 'gone';

/** A device, by id; the precision and the runtime are empty where they are the usual ones. */
export interface IServingChoice {
  readonly device: string;
  readonly precision: string;
  readonly runtime?: string;
}

/** A file of the user's own, or the path of one that the host has. */
export type GivenFile = File | string;

/** Files that take more than what is drawn. */
export type FileFormat = 'html' | 'netron' | 'model-explorer';

export interface IReportProvider {
  /** Name without extension or folders, for files the user saves. */
  readonly exportName: string;
  /** True when symbols keep the values they have: nobody is there to analyse again. */
  readonly fixedDims?: boolean;
  /** Rejects with a `ProblemError`, or with an `AbortError` once `signal` is aborted. */
  load(
    options: ILoadOptions,
    onProgress: (progress: IProgress) => void,
    signal: AbortSignal
  ): Promise<GraphPayload>;
  /**
   * The model under these sizes, analysed beside the one that was loaded, which stays what it is. Absent where
   * nobody is there to analyse; rejects as `load` does.
   */
  sized?(
    bindings: ILoadOptions['bindings'],
    signal: AbortSignal
  ): Promise<GraphPayload>;
  /** Details of a node of the payload loaded last. Rejects as `load` does. */
  details(node: number, signal: AbortSignal): Promise<NodeDetails>;
  /**
   * Costs at other batches, of a model whose batch is fixed. Absent where nobody is there to follow it; rejects
   * as `load` does.
   */
  batch?(signal: AbortSignal): Promise<BatchAnswer>;
  /** Values of a constant tensor, read now. Absent where nobody is there to read them. */
  weights?(tensor: number, signal: AbortSignal): Promise<WeightValues>;
  /** All values of a constant tensor as a `.npy` file. Absent where nobody is there to read them. */
  weightFile?(tensor: number, signal: AbortSignal): Promise<WeightFile>;
  /**
   * Writes nodes as a model of their own beside the model; `part` is what to call it. Absent where nobody
   * is there to write it.
   */
  extract?(
    nodes: readonly number[],
    part: string,
    signal: AbortSignal
  ): Promise<Extracted>;
  /**
   * The model as a file to keep: `html`, or its numbers for `netron` or `model-explorer` (of one `metric`).
   * Absent where nobody is there to make it.
   */
  file?(
    format: FileFormat,
    metric: string,
    signal: AbortSignal
  ): Promise<SavedFile>;
  /**
   * How the nodes of this model and those of another provider's correspond, by structure. Absent where there is
   * neither a server nor a kernel, and nothing was carried along; null when that is so for the other model.
   */
  compare?(
    other: IReportProvider,
    signal: AbortSignal
  ): Promise<ComparisonColumns | null>;
  /**
   * Begins what `compare` will be asked for, while the models are still being loaded. Absent where it takes no
   * time. Never rejects.
   */
  expectComparison?(other: IReportProvider, signal: AbortSignal): void;
  report?(signal: AbortSignal): Promise<Report>;
  /**
   * Work that runs the model or writes another one; `path` of the result is one that the host can open. Absent
   * where there is no server. Rejects as `load` does; aborting stops the work.
   */
  task?(
    order: TaskOrder,
    onChange: (task: Task) => void,
    signal: AbortSignal
  ): Promise<TaskResult>;
  /**
   * Attributes times that were measured elsewhere to the nodes: a profile, of TensorRT with its layer
   * information. Absent where nobody is there to read it. Rejects as `load` does.
   */
  profile?(
    files: readonly GivenFile[],
    onChange: (task: Task) => void,
    signal: AbortSignal
  ): Promise<TaskResult>;
  /** What the host calls the model's file; tasks that take two models name the other one by it. */
  readonly path?: string;
  /** The report as a document to read. Absent where nobody is there to write it. Rejects as `load` does. */
  sections?(signal: AbortSignal): Promise<ReportDocument>;
  /**
   * Text generation on a device, null where nothing is known of that one. Absent where nobody is there to plan
   * it. Rejects as `load` does.
   */
  serving?(
    choice: IServingChoice,
    signal: AbortSignal
  ): Promise<ServingPlans | null>;
  /** Prints the report. Absent where the viewer is a part of somebody else's page. */
  print?(): void;
  /** What has become of the file that was loaded. Absent where a file cannot change. */
  fileState?(signal: AbortSignal): Promise<FileState>;
}

/** A failure that can be shown as it is: what, where, what to do. */
export class ProblemError extends Error {
  constructor(readonly problem: Problem) {
    super(problem.detail || problem.title);
    this.name = 'ProblemError';
  }
}

/** A problem that arose on this side of the wire. */
export function localProblem(
  code: string,
  title: string,
  detail: string,
  hint: string,
  status = 0
): Problem {
  return { type: 'about:blank', title, status, detail, code, hint };
}

/** Any thrown value as a problem; never throws. */
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

/** What a viewer asks for; the model is the provider's, what else it takes lies beside it or at a path from the root. */
export type TaskOrder = Partial<Omit<TaskRequest, 'path'>> &
  Pick<TaskRequest, 'kind'>;
