/** The spine: the main path through the model, which coordinate assignment keeps straight. */

import type { IOrder } from './crossingCounter';
import type { IProperGraph } from './properGraph';

/** The spine's step into and out of each vertex; -1 off the spine. */
export interface ISpine {
  readonly stepIn: Int32Array;
  readonly stepOut: Int32Array;
}

/** Largest sum of importance over all paths that end at each vertex. */
function pathWeights(graph: IProperGraph, order: IOrder): Float64Array {
  const weight = new Float64Array(graph.vertexCount);
  for (const v of order.vertices) {
    let maximum = 0;
    for (let k = graph.in.offsets[v]; k < graph.in.offsets[v + 1]; k++) {
      maximum = Math.max(maximum, weight[graph.in.vertex[k]]);
    }
    weight[v] = maximum + graph.importance[v];
  }
  return weight;
}

/** End of the heaviest path; the later column wins a tie. */
function spineEnd(graph: IProperGraph, weight: Float64Array): number {
  let best = 0;
  for (let v = 1; v < graph.itemCount; v++) {
    const tie = weight[v] === weight[best] && graph.rank[v] > graph.rank[best];
    if (weight[v] > weight[best] || tie) {
      best = v;
    }
  }
  return best;
}

/** Entry of v on its heaviest path; the middle one of several equals. */
function heaviestEntry(
  graph: IProperGraph,
  order: IOrder,
  weight: Float64Array,
  v: number
): number {
  const [begin, end] = [graph.in.offsets[v], graph.in.offsets[v + 1]];
  const { vertex, ownOffset } = graph.in;
  let maximum = -1;
  let equals: number[] = [];
  for (let k = begin; k < end; k++) {
    if (weight[vertex[k]] > maximum) {
      maximum = weight[vertex[k]];
      equals = [];
    }
    if (weight[vertex[k]] === maximum) {
      equals.push(k);
    }
  }
  equals.sort(
    (a, b) =>
      order.position[vertex[a]] - order.position[vertex[b]] ||
      ownOffset[a] - ownOffset[b]
  );
  return equals.length > 0 ? equals[(equals.length - 1) >> 1] : -1;
}

/**
 * Follows the heaviest path back from its end. Among equals (parallel branches), takes the middle one, so
 * that the others spread evenly above and below it.
 */
export function findSpine(graph: IProperGraph, order: IOrder): ISpine {
  const stepIn = new Int32Array(graph.vertexCount).fill(-1);
  const stepOut = new Int32Array(graph.vertexCount).fill(-1);
  if (graph.itemCount === 0) {
    return { stepIn, stepOut };
  }
  const weight = pathWeights(graph, order);
  let v = spineEnd(graph, weight);
  let entry = heaviestEntry(graph, order, weight, v);
  while (entry >= 0) {
    const step = graph.in.step[entry];
    stepIn[v] = step;
    v = graph.in.vertex[entry];
    stepOut[v] = step;
    entry = heaviestEntry(graph, order, weight, v);
  }
  return { stepIn, stepOut };
}
