/** When a tensor is made and needed last, in steps of the run. */

import { TENSOR_KIND } from '../../core';
import type { IGraphModel } from '../../core/types';

export interface ILifetime {
  /** Step of the producer, 0 = the first; -1: alive from before the start. */
  readonly first: number;
  /** Last step that needs it, the last of all for a model output. */
  readonly last: number;
  /** Steps of the run. */
  readonly steps: number;
}

const steps = new WeakMap<IGraphModel, Int32Array>();

/** Step of each node of the main graph, -1 for nodes of bodies. */
function stepsOf(model: IGraphModel): Int32Array {
  let known = steps.get(model);
  if (!known) {
    known = new Int32Array(model.nodeCount).fill(-1);
    for (const [step, node] of (model.payload.timeline?.node ?? []).entries()) {
      if (node >= 0 && node < known.length) {
        known[node] = step;
      }
    }
    steps.set(model, known);
  }
  return known;
}

/** Null when the payload does not say: weights, tensors of bodies, memory that was not worked out. */
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
