/** Provides data that is already in memory: for tests, demos, and pages that contain their report. */

import type {
  GraphPayload,
  NodeDetails,
  Problem,
  WeightValues
} from '../schema';
import type { ILoadOptions, IProgress, IReportProvider } from './provider';
import { ProblemError, abortError, localProblem } from './provider';

export interface IMemoryProviderOptions {
  readonly exportName?: string;
  /** Details by node id. */
  readonly details?: Readonly<Record<number, NodeDetails>>;
  /** Values by tensor id; absent if they cannot be read. */
  readonly weights?: Readonly<Record<number, WeightValues | Problem>>;
  readonly weightFile?: IReportProvider['weightFile'];
  readonly batch?: IReportProvider['batch'];
  readonly sized?: IReportProvider['sized'];
  /** Extracts parts of the model; absent if that is not possible. */
  readonly extract?: IReportProvider['extract'];
  readonly file?: IReportProvider['file'];
  readonly sections?: IReportProvider['sections'];
  readonly serving?: IReportProvider['serving'];
  readonly print?: IReportProvider['print'];
  readonly task?: IReportProvider['task'];
  readonly profile?: IReportProvider['profile'];
  /** The payload for other options; the given one if absent. */
  reload?(options: ILoadOptions): GraphPayload;
}

export class MemoryProvider implements IReportProvider {
  readonly exportName: string;
  readonly weights?: IReportProvider['weights'];
  readonly batch?: IReportProvider['batch'];
  readonly sized?: IReportProvider['sized'];
  readonly weightFile?: IReportProvider['weightFile'];
  readonly extract?: IReportProvider['extract'];
  readonly file?: IReportProvider['file'];
  readonly sections?: IReportProvider['sections'];
  readonly serving?: IReportProvider['serving'];
  readonly print?: IReportProvider['print'];
  readonly task?: IReportProvider['task'];
  readonly profile?: IReportProvider['profile'];
  /** Options of every load so far, oldest first. */
  readonly loads: ILoadOptions[] = [];

  constructor(
    private readonly _payload: GraphPayload,
    private readonly _options: IMemoryProviderOptions = {}
  ) {
    this.exportName =
      _options.exportName ?? _payload.model.name.replace(/\.onnx$/i, '');
    const { weights } = _options;
    this.weightFile = _options.weightFile;
    this.extract = _options.extract;
    this.batch = _options.batch;
    this.sized = _options.sized;
    this.file = _options.file;
    this.sections = _options.sections;
    this.serving = _options.serving;
    this.print = _options.print;
    this.task = _options.task;
    this.profile = _options.profile;
    if (weights) {
      this.weights = async (tensor, signal) => {
        await Promise.resolve();
        if (signal.aborted) {
          throw abortError();
        }
        const weight = weights[tensor];
        if (weight === undefined || 'code' in weight) {
          throw new ProblemError(
            weight ?? localProblem('unknown-weight', 'Unknown weight', '', '')
          );
        }
        return weight;
      };
    }
  }

  async load(
    options: ILoadOptions,
    onProgress: (progress: IProgress) => void,
    signal: AbortSignal
  ): Promise<GraphPayload> {
    this.loads.push(options);
    onProgress({ phase: 'read', done: 1, total: 1 });
    await Promise.resolve();
    if (signal.aborted) {
      throw abortError();
    }
    return this._options.reload?.(options) ?? this._payload;
  }

  async details(node: number, signal: AbortSignal): Promise<NodeDetails> {
    await Promise.resolve();
    if (signal.aborted) {
      throw abortError();
    }
    const details = this._options.details?.[node];
    if (details === undefined) {
      throw new ProblemError(
        localProblem(
          'no-details',
          'No details are stored for this node',
          `Node ${node} has no stored details.`,
          'Open the model in JupyterLab to read them.'
        )
      );
    }
    return details;
  }
}
