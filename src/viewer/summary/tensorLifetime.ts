/** Lifetime of a tensor: when it is produced and last used, in execution steps. */

import { TENSOR_KIND } from '../../core';
import type { IGraphModel } from '../../core/types';

export interface ILifetime {
  /** Step of the producer, 0 is the first; -1 if live before the start. */
  readonly first: number;
  /** Last step that uses it; for a model output, the last step of all. */
  readonly last: number;
  /** Number of execution steps. */
  readonly steps: number;
}

const steps = new WeakMap<IGraphModel, Int32Array>();

/** Step of each node of the main graph; -1 for nodes of subgraphs. */
function stepsOf(model: IGraphModel): Int32Array {
  let cached = steps.get(model);
  if (!cached) {
    cached = new Int32Array(model.nodeCount).fill(-1);
    for (const [step, node] of (model.payload.timeline?.node ?? []).entries()) {
      if (node >= 0 && node < cached.length) {
        cached[node] = step;
      }
    }
    steps.set(model, cached);
  }
  return cached;
}

/** Null if unknown: weights, tensors of subgraphs, memory that was not computed. */
export function lifetimeOf(
  model: IGraphModel,
  tensor: number
): ILifetime | null {
  const { timeline } = model.payload;
  const last = timeline?.tensor_last[tensor] ?? -2;
  const producer = model.tensorProducer[tensor];
  const first = producer >= 0 ? stepsOf(model)[producer] : -1;
  const isInput = model.tensorKind[tensor] === TENSOR_KIND.input;
  return timeline && last >= first && (producer >= 0 ? first >= 0 : isInput)
    ? { first, last, steps: timeline.node.length }
    : null;
}
