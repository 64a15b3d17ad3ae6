/** Requests to a notebook's kernel: one message each way. */

import type {
  BatchAnswer,
  Extracted,
  GraphPayload,
  Problem,
  ReportDocument,
  SavedFile,
  ServingPlans,
  TaskResult,
  WeightFile,
  WeightValues
} from '../schema';
import type { IReportProvider } from './provider';
import { ProblemError, abortError, localProblem } from './provider';
import { tooLarge } from './followTask';

/** The part of a widget's model that carries messages. */
export interface IKernelModel {
  on(event: string, callback: (...args: never[]) => void): void;
  off(event: string, callback: (...args: never[]) => void): void;
  send(content: unknown): void;
  /** False in a page opened without a kernel. */
  readonly comm_live?: boolean;
}

interface IAnswer<T> {
  readonly type: string;
  readonly id: string;
  readonly value?: T;
  readonly problem?: Problem;
}

let requestCount = 0;

function isAnswer<T>(
  message: unknown,
  type: string,
  id: string
): message is IAnswer<T> {
  return (
    typeof message === 'object' &&
    message !== null &&
    'type' in message &&
    message.type === type &&
    'id' in message &&
    message.id === id
  );
}

/** Sends a request and waits for its answer. */
function request<T>(
  model: IKernelModel,
  type: string,
  question: object,
  signal: AbortSignal
): Promise<T> {
  return new Promise((resolve, reject) => {
    // Every view of the widget receives every answer.
    const id = `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}-${requestCount++}`;
    const end = (): void => {
      model.off('msg:custom', onMessage);
      signal.removeEventListener('abort', stop);
    };
    const stop = (): void => {
      end();
      reject(abortError());
    };
    const onMessage = (message: unknown): void => {
      if (isAnswer<T>(message, type, id)) {
        end();
        if (message.value) {
          resolve(message.value);
        } else {
          reject(new ProblemError(message.problem ?? UNREADABLE));
        }
      }
    };
    if (signal.aborted) {
      stop();
      return;
    }
    signal.addEventListener('abort', stop, { once: true });
    model.on('msg:custom', onMessage);
    model.send({ type, id, ...question });
  });
}

/** Requests costs at other batches from the kernel; undefined without a kernel. */
export function kernelBatch(model: IKernelModel): IReportProvider['batch'] {
  return model.comm_live === false
    ? undefined
    : signal => request<BatchAnswer>(model, 'autodoc:batch', {}, signal);
}

/** Requests the report from the kernel; undefined without a kernel. */
export function kernelSections(
  model: IKernelModel
): IReportProvider['sections'] {
  return model.comm_live === false
    ? undefined
    : signal => request<ReportDocument>(model, 'autodoc:sections', {}, signal);
}

/** Requests serving plans from the kernel; undefined without a kernel. */
export function kernelServing(model: IKernelModel): IReportProvider['serving'] {
  return model.comm_live === false
    ? undefined
    : (choice, signal) =>
        request<ServingPlans>(model, 'autodoc:serving', { ...choice }, signal);
}

/** Requests an additional analysis at other sizes from the kernel; undefined without a kernel. */
export function kernelSized(model: IKernelModel): IReportProvider['sized'] {
  return model.comm_live === false
    ? undefined
    : (dims, signal) =>
        request<GraphPayload>(model, 'autodoc:sized', { dims }, signal);
}

/** Requests the values of a constant from the kernel; undefined without a kernel. */
export function kernelWeights(model: IKernelModel): IReportProvider['weights'] {
  return model.comm_live === false
    ? undefined
    : (tensor, signal) =>
        request<WeightValues>(model, 'autodoc:weights', { tensor }, signal);
}

/** Requests all values of a constant as a file from the kernel; undefined without a kernel. */
export function kernelWeightFile(
  model: IKernelModel
): IReportProvider['weightFile'] {
  return model.comm_live === false
    ? undefined
    : (tensor, signal) =>
        request<WeightFile>(
          model,
          'autodoc:weights',
          { tensor, format: 'npy' },
          signal
        );
}

/** Has the kernel extract a part of the model; undefined without a kernel. */
export function kernelExtract(model: IKernelModel): IReportProvider['extract'] {
  return model.comm_live === false
    ? undefined
    : (nodes, name, signal) =>
        request<Extracted>(
          model,
          'autodoc:extract',
          { nodes, part: name },
          signal
        );
}

/** Has the kernel create a file; undefined without a kernel. */
export function kernelFile(model: IKernelModel): IReportProvider['file'] {
  return model.comm_live === false
    ? undefined
    : (format, metric, signal) =>
        request<SavedFile>(model, 'autodoc:file', { format, metric }, signal);
}

/** Maximum size of a profile in a message, in bytes: servers drop connections that send much more. */
const MAX_PROFILE = 6 * 2 ** 20;

/** Has the kernel attribute a profile; undefined without a kernel. */
export function kernelProfile(model: IKernelModel): IReportProvider['profile'] {
  if (model.comm_live === false) {
    return undefined;
  }
  return async (targets, _onChange, signal) => {
    const files = [];
    for (const file of targets) {
      if (typeof file !== 'string') {
        if (file.size > MAX_PROFILE) {
          throw tooLarge(file, '6 MiB');
        }
        files.push({ name: file.name, text: await file.text() });
      }
    }
    return request<TaskResult>(model, 'autodoc:profile', { files }, signal);
  };
}

const UNREADABLE = localProblem(
  'bad-answer',
  'The kernel sent an unreadable response',
  'Kernel and viewer are different versions.',
  'Run the cell again.'
);
