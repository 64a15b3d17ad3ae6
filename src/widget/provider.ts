/** Serves the widget's bundle; asks the kernel, if there is one, for other sizes. */

import { upgradePayload } from '../core/model/upgradePayload';
import { BundleProvider, readBundle } from '../providers/bundleProvider';
import { unpackJson } from '../providers/unpack';
import {
  kernelBatch,
  kernelExtract,
  kernelFile,
  kernelProfile,
  kernelSections,
  kernelServing,
  kernelSized,
  kernelWeightFile,
  kernelWeights
} from '../providers/jupyterKernel';
import type { ILoadOptions, IReportProvider } from '../providers/provider';
import { abortError, localProblem, ProblemError } from '../providers/provider';
import type { ComparisonColumns, GraphPayload } from '../schema';
import { bytesOf, messageOf, sendMessage, type IWidgetModel } from './model';
import { ownValue } from '../core/base/ownValue';

export type TraitSizes = Readonly<Record<string, number>>;

const TYPE = 'autodoc:analyse';
let requestCount = 0;

/** The sizes with which a payload was analysed. */
export function sizesOf({ dims }: GraphPayload): TraitSizes {
  return Object.fromEntries(
    dims.flatMap(({ name, value }) => (value === null ? [] : [[name, value]]))
  );
}

export function sameSizes(a: TraitSizes, b: TraitSizes): boolean {
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every(name => ownValue(a, name) === ownValue(b, name))
  );
}

export class WidgetProvider implements IReportProvider {
  readonly exportName: string;
  /** True while new sizes are being analysed: the next bundle is the answer. */
  asking = false;
  /** Sizes of the bundle. */
  base: TraitSizes;

  private readonly _batch: IReportProvider['batch'];
  private readonly _sized: IReportProvider['sized'];
  private readonly _weights: IReportProvider['weights'];
  private readonly _weightFile: IReportProvider['weightFile'];
  private readonly _extract: IReportProvider['extract'];
  private readonly _file: IReportProvider['file'];
  private readonly _sections: IReportProvider['sections'];
  private readonly _serving: IReportProvider['serving'];
  private readonly _profile: IReportProvider['profile'];

  private constructor(
    private readonly _model: IWidgetModel,
    private readonly _isLive: () => boolean,
    private _served: BundleProvider,
    payload: GraphPayload
  ) {
    this.exportName = _served.exportName;
    this.base = sizesOf(payload);
    this._batch = kernelBatch(_model);
    this._sized = kernelSized(_model);
    this._weights = kernelWeights(_model);
    this._weightFile = kernelWeightFile(_model);
    this._extract = kernelExtract(_model);
    this._file = kernelFile(_model);
    this._sections = kernelSections(_model);
    this._serving = kernelServing(_model);
    this._profile = kernelProfile(_model);
  }

  static async of(
    model: IWidgetModel,
    isLive: () => boolean
  ): Promise<WidgetProvider> {
    const bundle = await readBundle(
      bytesOf(model.get('_bundle')),
      undefined,
      upgradePayload
    );
    return new WidgetProvider(
      model,
      isLive,
      new BundleProvider(bundle),
      bundle.payload
    );
  }

  get fixedDims(): boolean {
    return !this._isLive() || this._model.get('_fixed') === true;
  }

  /** Undefined if there is nothing to analyse the model. */
  get sized(): IReportProvider['sized'] {
    return this.fixedDims ? undefined : this._sized;
  }

  /** For the first of two widgets side by side, if the kernel has aligned them. */
  get compare(): IReportProvider['compare'] {
    const packed = bytesOf(this._model.get('_comparison'));
    return packed.byteLength === 0
      ? undefined
      : async other =>
          other instanceof WidgetProvider && this._isBeside(other)
            ? unpackJson<ComparisonColumns>(packed)
            : null;
  }

  /** Undefined without a kernel. */
  get batch(): IReportProvider['batch'] {
    return this._isLive() ? this._batch : undefined;
  }

  /** Undefined without a kernel. */
  get weights(): IReportProvider['weights'] {
    return this._isLive() ? this._weights : undefined;
  }

  /** Undefined without a kernel. */
  get weightFile(): IReportProvider['weightFile'] {
    return this._isLive() ? this._weightFile : undefined;
  }

  /** Undefined without a kernel. */
  get extract(): IReportProvider['extract'] {
    return this._isLive() ? this._extract : undefined;
  }

  /** Undefined without a kernel. */
  get file(): IReportProvider['file'] {
    return this._isLive() ? this._file : undefined;
  }

  /** Undefined without a kernel. */
  get sections(): IReportProvider['sections'] {
    return this._isLive() ? this._sections : undefined;
  }

  /** Undefined without a kernel. */
  get serving(): IReportProvider['serving'] {
    return this._isLive() ? this._serving : undefined;
  }

  /** Undefined without a kernel. */
  get profile(): IReportProvider['profile'] {
    return this._isLive() ? this._profile : undefined;
  }

  async load(
    options: ILoadOptions,
    onProgress: Parameters<IReportProvider['load']>[1],
    signal: AbortSignal
  ): ReturnType<IReportProvider['load']> {
    const bindings = { ...this.base, ...options.bindings };
    if (!this.fixedDims && !sameSizes(bindings, this.base)) {
      await this._ask(bindings, signal);
      const bundle = await readBundle(bytesOf(this._model.get('_bundle')));
      this._served = new BundleProvider(bundle);
      this.base = sizesOf(bundle.payload);
    }
    return this._served.load(options, onProgress, signal);
  }

  details(
    ...args: Parameters<IReportProvider['details']>
  ): ReturnType<IReportProvider['details']> {
    return this._served.details(...args);
  }

  private _isBeside(other: WidgetProvider): boolean {
    const [ownFiles, otherFiles] = [this, other].map(({ _model }) =>
      String(_model.get('_pair')).split(':')
    );
    return (
      ownFiles[0] !== '' &&
      ownFiles[0] === otherFiles[0] &&
      ownFiles[1] !== otherFiles[1]
    );
  }

  /** Requests an analysis; resolves when the new bundle has arrived. */
  private _ask(dims: TraitSizes, signal: AbortSignal): Promise<void> {
    this.asking = true;
    const id = `${Date.now().toString(36)}-${requestCount++}`;
    return new Promise((resolve, reject) => {
      const end = (): void => {
        this._model.off('msg:custom', onMessage);
        signal.removeEventListener('abort', stop);
        this.asking = false;
      };
      const stop = (): void => {
        end();
        reject(abortError());
      };
      const onMessage = (content: unknown): void => {
        const message = messageOf(content, TYPE);
        if (message?.id === id) {
          end();
          if (message.problem) {
            reject(problemIn(message.problem));
          } else {
            resolve();
          }
        }
      };
      signal.addEventListener('abort', stop, { once: true });
      this._model.on('msg:custom', onMessage);
      if (!sendMessage(this._model, { type: TYPE, id, dims })) {
        stop();
      }
    });
  }
}

function problemIn(value: unknown): ProblemError {
  const { code, message, hint } = value as Record<string, unknown>;
  return new ProblemError(
    localProblem(
      String(code),
      'The model could not be analysed with these dimensions',
      String(message),
      String(hint)
    )
  );
}
