/** The spine: the main path through the model, which the coordinates keep straight. */

import type { IOrder } from './crossings';
import type { IProperGraph } from './layers';

/** The spine's step into and out of each vertex, -1 off the spine. */
export interface ISpine {
  readonly stepIn: Int32Array;
  readonly stepOut: Int32Array;
}

/** The vertex in the last column with the most wires; where the spine ends. */
function spineEnd(graph: IProperGraph): number {
  let best = -1;
  let bestDegree = -1;
  for (let v = 0; v < graph.itemCount; v++) {
    const degree = graph.in.offsets[v + 1] - graph.in.offsets[v];
    const later = best < 0 || graph.rank[v] > graph.rank[best];
    const busier = graph.rank[v] === graph.rank[best] && degree > bestDegree;
    if (later || busier) {
      best = v;
      bestDegree = degree;
    }
  }
  return best;
}

/** Number of items on the longest path of neighbouring columns that ends in each vertex. */
function pathLengths(graph: IProperGraph, order: IOrder): Int32Array {
  const length = new Int32Array(graph.vertexCount);
  for (const v of order.vertices) {
    let most = 0;
    for (let k = graph.in.offsets[v]; k < graph.in.offsets[v + 1]; k++) {
      most = Math.max(most, length[graph.in.vertex[k]]);
    }
    length[v] = most + (v < graph.itemCount ? 1 : 0);
  }
  return length;
}

/** The entry of v's longest path; the middle one where several are equally long. */
function longestEntry(
  graph: IProperGraph,
  order: IOrder,
  length: Int32Array,
  v: number
): number {
  const [begin, end] = [graph.in.offsets[v], graph.in.offsets[v + 1]];
  const { vertex, ownOffset } = graph.in;
  let most = -1;
  let equals: number[] = [];
  for (let k = begin; k < end; k++) {
    if (length[vertex[k]] > most) {
      most = length[vertex[k]];
      equals = [];
    }
    if (length[vertex[k]] === most) {
      equals.push(k);
    }
  }
  equals.sort(
    (a, b) =>
      order.place[vertex[a]] - order.place[vertex[b]] ||
      ownOffset[a] - ownOffset[b]
  );
  return equals.length > 0 ? equals[(equals.length - 1) >> 1] : -1;
}

/**
 * Walks back from the end along the path with the most items. Among equals (parallel branches) the
 * middle one is taken, so that the others spread evenly above and below it.
 */
export function findSpine(graph: IProperGraph, order: IOrder): ISpine {
  const stepIn = new Int32Array(graph.vertexCount).fill(-1);
  const stepOut = new Int32Array(graph.vertexCount).fill(-1);
  if (graph.itemCount === 0) {
    return { stepIn, stepOut };
  }
  const length = pathLengths(graph, order);
  let v = spineEnd(graph);
  let entry = longestEntry(graph, order, length, v);
  while (entry >= 0) {
    const step = graph.in.step[entry];
    stepIn[v] = step;
    v = graph.in.vertex[entry];
    stepOut[v] = step;
    entry = longestEntry(graph, order, length, v);
  }
  return { stepIn, stepOut };
}
