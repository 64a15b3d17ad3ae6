/** Rank assignment: longest path, then slack is used to shorten wires. */

import { EDGE } from './cycleRemoval';
import { dagOf, inDegree, nextRank, outDegree, previousRank } from './dag';
import type { IDag } from './dag';
import { minimizeWireLength } from './networkSimplex';
import type { ILayoutInput } from './layoutTypes';
import { PIN } from './layoutTypes';
import { compactColumns } from './columnWidths';

/** Longest-path columns and a topological order. */
function longestPath(dag: IDag, lowest: number) {
  const rank = new Int32Array(dag.count);
  const order = new Int32Array(dag.count);
  const pending = new Int32Array(dag.count);
  let tail = 0;
  for (let v = 0; v < dag.count; v++) {
    pending[v] = inDegree(dag, v);
    rank[v] = dag.pin[v] === PIN.first ? 0 : lowest;
    if (pending[v] === 0) {
      order[tail++] = v;
    }
  }
  for (let head = 0; head < tail; head++) {
    const v = order[head];
    for (let k = dag.out.offsets[v]; k < dag.out.offsets[v + 1]; k++) {
      const next = dag.to[dag.out.values[k]];
      rank[next] = Math.max(rank[next], rank[v] + 1);
      if (--pending[next] === 0) {
        order[tail++] = next;
      }
    }
  }
  return { rank, order };
}

/** Moves the items pinned last into one column after all others. */
function placeLastItems(dag: IDag, rank: Int32Array): void {
  let last = -1;
  for (let v = 0; v < dag.count; v++) {
    if (dag.pin[v] !== PIN.last) {
      last = Math.max(last, rank[v]);
    }
  }
  for (let v = 0; v < dag.count; v++) {
    if (dag.pin[v] === PIN.last) {
      rank[v] = last + 1;
    }
  }
}

/** Moves every item with slack towards the side with more wires. */
function balance(dag: IDag, rank: Int32Array, order: Int32Array): void {
  for (let i = dag.count - 1; i >= 0; i--) {
    const v = order[i];
    if (dag.pin[v] === PIN.none && outDegree(dag, v) > inDegree(dag, v)) {
      rank[v] = Math.max(rank[v], nextRank(dag, rank, v) - 1);
    }
  }
  for (const v of order) {
    if (dag.pin[v] === PIN.none && inDegree(dag, v) > outDegree(dag, v)) {
      rank[v] = previousRank(dag, rank, v) + 1;
    }
  }
}

/** Moves side inputs (sources and the chains behind them) next to their readers. */
function pullSources(dag: IDag, rank: Int32Array, order: Int32Array): void {
  const free = new Uint8Array(dag.count);
  for (const v of order) {
    let isFree = dag.pin[v] === PIN.none && inDegree(dag, v) <= 1;
    for (let k = dag.in.offsets[v]; k < dag.in.offsets[v + 1]; k++) {
      isFree = isFree && free[dag.from[dag.in.values[k]]] === 1;
    }
    free[v] = isFree ? 1 : 0;
  }
  for (let i = dag.count - 1; i >= 0; i--) {
    const v = order[i];
    if (free[v] && outDegree(dag, v) > 0) {
      rank[v] = nextRank(dag, rank, v) - 1;
    }
  }
}

/**
 * Moves items next to their inputs if that does not lengthen the wires in total, so that branches start
 * side by side.
 */
function followInputs(dag: IDag, rank: Int32Array, order: Int32Array): void {
  for (const v of order) {
    const links = inDegree(dag, v);
    if (dag.pin[v] === PIN.none && links > 0 && links === outDegree(dag, v)) {
      rank[v] = previousRank(dag, rank, v) + 1;
    }
  }
}

/** Maximum number of steps for shortening wires, so that large graphs stay fast. */
const MAX_SIMPLEX_STEPS = 3e6;

/**
 * Shortens wires. All items pinned first are one vertex, all pinned last another; wires of weight 0 keep
 * everything else between the two.
 */
function shortenWires(dag: IDag, rank: Int32Array): void {
  const [first, last] = [dag.count, dag.count + 1];
  const vertexOf = (v: number) =>
    dag.pin[v] === PIN.first ? first : dag.pin[v] === PIN.last ? last : v;
  const [from, to, weight]: [number[], number[], number[]] = [[], [], []];
  const add = (s: number, t: number, w: number) => {
    from.push(s);
    to.push(t);
    weight.push(w);
  };
  for (let e = 0; e < dag.from.length; e++) {
    add(vertexOf(dag.from[e]), vertexOf(dag.to[e]), 1);
  }
  const wide = new Int32Array(dag.count + 2);
  let maximum = 0;
  for (let v = 0; v < dag.count; v++) {
    if (dag.pin[v] === PIN.none) {
      wide[v] = rank[v] + 1;
      maximum = Math.max(maximum, rank[v] + 1);
      if (inDegree(dag, v) === 0) {
        add(first, v, 0);
      }
      if (outDegree(dag, v) === 0) {
        add(v, last, 0);
      }
    }
  }
  wide[last] = maximum + 1;
  const graph = {
    count: dag.count + 2,
    from: Int32Array.from(from),
    to: Int32Array.from(to),
    weight: Float64Array.from(weight)
  };
  minimizeWireLength(graph, wide, MAX_SIMPLEX_STEPS);
  for (let v = 0; v < dag.count; v++) {
    rank[v] = wide[vertexOf(v)];
  }
}

/** Column of every item, from 0 without gaps at the ends. All edges except back edges point right. */
export function assignRanks(
  input: ILayoutInput,
  edgeClass: Uint8Array
): Int32Array {
  const dag = dagOf(input, edgeClass);
  const hasFirst = input.pin.includes(PIN.first);
  const { rank, order } = longestPath(dag, hasFirst ? 1 : 0);
  placeLastItems(dag, rank);
  for (let pass = 0; pass < 3; pass++) {
    balance(dag, rank, order);
  }
  pullSources(dag, rank, order);
  shortenWires(dag, rank);
  followInputs(dag, rank, order);
  let least = Infinity;
  for (let v = 0; v < dag.count; v++) {
    if (dag.pin[v] === PIN.none) {
      least = Math.min(least, rank[v]);
    }
  }
  const shift = Number.isFinite(least) ? least - (hasFirst ? 1 : 0) : 0;
  for (let v = 0; v < dag.count; v++) {
    rank[v] = dag.pin[v] === PIN.first ? 0 : rank[v] - shift;
  }
  placeLastItems(dag, rank);
  compactColumns(dag, rank, input.width);
  return rank;
}

/** Marks edges that span more than `maxSpan` columns, to be routed in a lane outside the columns. */
export function markLaneEdges(
  input: ILayoutInput,
  rank: Int32Array,
  edgeClass: Uint8Array,
  maxSpan: number
): void {
  for (let e = 0; e < edgeClass.length; e++) {
    const span = rank[input.target[e]] - rank[input.source[e]];
    if (edgeClass[e] === EDGE.normal && span > maxSpan) {
      edgeClass[e] = EDGE.bus;
    }
  }
}
