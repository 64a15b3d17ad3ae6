/** Values of constants through a notebook's kernel: one message there, one back. */

import type { Problem, WeightValues } from '../schema';
import type { IReportProvider } from './provider';
import { ProblemError, abortError, localProblem } from './provider';

/** The part of a widget's model that carries messages. */
export interface IKernelModel {
  on(event: string, callback: (...args: never[]) => void): void;
  off(event: string, callback: (...args: never[]) => void): void;
  send(content: unknown): void;
  /** False in a page that was opened without a kernel. */
  readonly comm_live?: boolean;
}

interface IAnswer {
  readonly type: string;
  readonly id: string;
  readonly value?: WeightValues;
  readonly problem?: Problem;
}

const TYPE = 'autodoc:weights';
let asked = 0;

function isAnswer(message: unknown, id: string): message is IAnswer {
  return (
    typeof message === 'object' &&
    message !== null &&
    'type' in message &&
    message.type === TYPE &&
    'id' in message &&
    message.id === id
  );
}

/** How a widget's provider reads constants; undefined where no kernel is there. */
export function kernelWeights(model: IKernelModel): IReportProvider['weights'] {
  if (model.comm_live === false) {
    return undefined;
  }
  return (tensor, signal) =>
    new Promise((resolve, reject) => {
      // Every view of the widget hears every answer.
      const id = `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}-${asked++}`;
      const end = (): void => {
        model.off('msg:custom', hear);
        signal.removeEventListener('abort', stop);
      };
      const stop = (): void => {
        end();
        reject(abortError());
      };
      const hear = (message: unknown): void => {
        if (isAnswer(message, id)) {
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
      model.on('msg:custom', hear);
      model.send({ type: TYPE, id, tensor });
    });
}

const UNREADABLE = localProblem(
  'bad-answer',
  'The kernel gave an unreadable answer',
  'Its version of ONNX Autodoc is another one than that of the viewer.',
  'Run the cell again.'
);
