/**
 * Layered layout, left to right, for nearly sequential graphs (Sugiyama, Tagawa and Toda 1981): cycles,
 * columns, order within columns, heights, wires. Pure, iterative, deterministic.
 */

import { classifyEdges } from './cycleRemoval';
import { assignHeights } from './coordinateAssignment';
import type { IOrder } from './crossingCounter';
import { properGraph } from './properGraph';
import type { IProperGraph } from './properGraph';
import { orderVertices } from './vertexOrdering';
import { assignRanks, markLaneEdges } from './rankAssignment';
import { route } from './wireRouting';
import { LAYOUT_OPTIONS } from './layoutTypes';
import type {
  ILayoutInput,
  ILayoutOptions,
  ILayoutResult
} from './layoutTypes';

/** Lays out one level. Time is nearly linear in items and wires; 50,000 items take about a second. */
export function layered(
  input: ILayoutInput,
  options: ILayoutOptions = LAYOUT_OPTIONS
): ILayoutResult {
  const edgeClass = classifyEdges(
    input.itemCount,
    input.source,
    input.target,
    input.pin
  );
  const rank = assignRanks(input, edgeClass);
  markLaneEdges(input, rank, edgeClass, options.maxSpan);
  const graph = properGraph(input, rank, edgeClass);
  const { itemGap, sweeps } = options;
  const { orders, crossings } = orderVertices(graph, sweeps, itemGap);
  const heights = shortestWires(graph, orders, input, options);
  return {
    ...route(input, edgeClass, graph, heights, options),
    rank,
    crossings: Number.isFinite(crossings) ? crossings : 0
  };
}

/** The heights of the order with the shortest wires. */
function shortestWires(
  graph: IProperGraph,
  orders: readonly IOrder[],
  input: ILayoutInput,
  options: ILayoutOptions
): Float64Array {
  let best: Float64Array = new Float64Array(0);
  let least = Infinity;
  for (const order of orders) {
    const heights = assignHeights(graph, order, input.pin, options);
    const length = totalHeightChange(graph, heights);
    if (length < least) {
      least = length;
      best = heights;
    }
  }
  return best;
}

/** Sum of the height differences of all wires. */
function totalHeightChange(
  { out: outgoing, vertexCount }: IProperGraph,
  y: Float64Array
): number {
  let sum = 0;
  for (let v = 0; v < vertexCount; v++) {
    for (let k = outgoing.offsets[v]; k < outgoing.offsets[v + 1]; k++) {
      const from = y[v] + outgoing.ownOffset[k];
      sum += Math.abs(y[outgoing.vertex[k]] + outgoing.farOffset[k] - from);
    }
  }
  return sum;
}
