/** The proper graph: every wire is split into steps from one column to the next. */

import { groupBy, IntList } from '../../base/csr';
import { EDGE } from './cycleRemoval';
import type { ILayoutInput } from './layoutTypes';

/** Steps on one side of the vertices; parallel arrays, rows by vertex. */
export interface IAdjacency {
  readonly offsets: Int32Array;
  /** The vertex at the other end. */
  readonly vertex: Int32Array;
  readonly step: Int32Array;
  /** Where the step meets this vertex, below its centre. */
  readonly ownOffset: Float64Array;
  /** Where the step meets the far end. */
  readonly farOffset: Float64Array;
}

/** Vertices are the items 0 … itemCount-1, then the dummy nodes (where a wire passes a column). */
export interface IProperGraph {
  readonly itemCount: number;
  readonly vertexCount: number;
  readonly rankCount: number;
  readonly rank: Int32Array;
  readonly height: Float64Array;
  /** Zero for dummy nodes. */
  readonly importance: Float64Array;
  readonly stepCount: number;
  readonly out: IAdjacency;
  readonly in: IAdjacency;
  /** First dummy node of the edge's trunk (in the column after its source); -1 if there is none. */
  readonly firstDummy: Int32Array;
}

/** The last column that each edge's trunk must reach, before its targets. */
function trunks(
  input: ILayoutInput,
  rank: Int32Array,
  edgeClass: Uint8Array
): { trunkOf: Int32Array; source: IntList; reach: IntList } {
  const edges = input.source.length;
  const rows = groupBy(
    input.itemCount,
    input.source,
    Int32Array.from({ length: edges }, (_, e) => e)
  );
  const trunkOf = new Int32Array(edges).fill(-1);
  const source = new IntList();
  const reach = new IntList();
  const ids = new Map<number, number>();
  for (let item = 0; item < input.itemCount; item++) {
    ids.clear();
    for (let k = rows.offsets[item]; k < rows.offsets[item + 1]; k++) {
      const e = rows.values[k];
      const last = rank[input.target[e]] - 1;
      if (edgeClass[e] !== EDGE.normal || last <= rank[item]) {
        continue;
      }
      let id = ids.get(input.trunk[e]);
      if (id === undefined) {
        id = source.length;
        ids.set(input.trunk[e], id);
        source.push(item);
        reach.push(last);
      }
      reach.set(id, Math.max(reach.at(id), last));
      trunkOf[e] = id;
    }
  }
  return { trunkOf, source, reach };
}

function adjacencyOf(
  count: number,
  nearEnd: Int32Array,
  farEnd: Int32Array,
  ownAt: Float64Array,
  farAt: Float64Array
): IAdjacency {
  const steps = Int32Array.from({ length: nearEnd.length }, (_, s) => s);
  const rows = groupBy(count, nearEnd, steps);
  const order = rows.values;
  // Steps ordered by where they meet the vertex, so that equal ends are adjacent.
  for (let v = 0; v < count; v++) {
    const begin = rows.offsets[v];
    const end = rows.offsets[v + 1];
    if (end - begin > 1 && ownAt[order[begin]] !== ownAt[order[end - 1]]) {
      order.subarray(begin, end).sort((a, b) => ownAt[a] - ownAt[b] || a - b);
    }
  }
  return {
    offsets: rows.offsets,
    vertex: order.map(s => farEnd[s]),
    step: order,
    ownOffset: Float64Array.from(order, s => ownAt[s]),
    farOffset: Float64Array.from(order, s => farAt[s])
  };
}

/** Collects steps. */
class StepList {
  add(from: number, to: number, fromAt: number, toAt: number): void {
    this._from.push(from);
    this._to.push(to);
    this._fromAt.push(fromAt);
    this._toAt.push(toAt);
  }

  /** The adjacency of every vertex on both sides. */
  sides(vertexCount: number): {
    count: number;
    out: IAdjacency;
    in: IAdjacency;
  } {
    const from = this._from.toArray();
    const to = this._to.toArray();
    const fromAt = Float64Array.from(this._fromAt);
    const toAt = Float64Array.from(this._toAt);
    return {
      count: from.length,
      out: adjacencyOf(vertexCount, from, to, fromAt, toAt),
      in: adjacencyOf(vertexCount, to, from, toAt, fromAt)
    };
  }

  private readonly _from = new IntList();
  private readonly _to = new IntList();
  private readonly _fromAt: number[] = [];
  private readonly _toAt: number[] = [];
}

/** Adds the steps of all wires; returns the first dummy node of each edge's trunk. */
function splitWire(
  input: ILayoutInput,
  itemRank: Int32Array,
  edgeClass: Uint8Array,
  trunkOf: Int32Array,
  bendOf: Int32Array,
  reach: IntList,
  steps: StepList
): Int32Array {
  const firstBend = new Int32Array(edgeClass.length).fill(-1);
  const isPlaced = new Uint8Array(bendOf.length);
  for (let e = 0; e < edgeClass.length; e++) {
    if (edgeClass[e] !== EDGE.normal) {
      continue;
    }
    const [s, t] = [input.source[e], input.target[e]];
    const trunk = trunkOf[e];
    if (trunk < 0) {
      steps.add(s, t, input.sourceOffset[e], input.targetOffset[e]);
      continue;
    }
    const first = bendOf[trunk];
    firstBend[e] = first;
    if (!isPlaced[trunk]) {
      isPlaced[trunk] = 1;
      steps.add(s, first, input.sourceOffset[e], 0);
      const last = first + reach.at(trunk) - itemRank[s] - 1;
      for (let bend = first; bend < last; bend++) {
        steps.add(bend, bend + 1, 0, 0);
      }
    }
    const last = first + itemRank[t] - itemRank[s] - 2;
    steps.add(last, t, 0, input.targetOffset[e]);
  }
  return firstBend;
}

/** Splits the edges of class `normal` into steps; wires of one trunk share their dummy nodes. */
export function properGraph(
  input: ILayoutInput,
  itemRank: Int32Array,
  edgeClass: Uint8Array
): IProperGraph {
  const { itemCount } = input;
  const { trunkOf, source, reach } = trunks(input, itemRank, edgeClass);
  const bendOf = new Int32Array(source.length);
  let vertexCount = itemCount;
  for (let t = 0; t < source.length; t++) {
    bendOf[t] = vertexCount;
    vertexCount += reach.at(t) - itemRank[source.at(t)];
  }
  const rank = new Int32Array(vertexCount);
  rank.set(itemRank);
  for (let t = 0; t < source.length; t++) {
    const first = itemRank[source.at(t)] + 1;
    for (let r = first; r <= reach.at(t); r++) {
      rank[bendOf[t] + r - first] = r;
    }
  }
  const height = new Float64Array(vertexCount);
  height.set(input.height);
  const importance = new Float64Array(vertexCount);
  importance.set(input.importance);
  const steps = new StepList();
  const firstDummy = splitWire(
    input,
    itemRank,
    edgeClass,
    trunkOf,
    bendOf,
    reach,
    steps
  );
  const { count, ...sides } = steps.sides(vertexCount);
  return {
    itemCount,
    vertexCount,
    rankCount: rank.reduce((max, r) => Math.max(max, r + 1), 0),
    rank,
    height,
    importance,
    stepCount: count,
    ...sides,
    firstDummy
  };
}
