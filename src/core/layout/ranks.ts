/** Columns: longest path, then slack is used to shorten wires. */

import { indexBy } from '../csr';
import { EDGE } from './acyclic';
import { shorten } from './shorten';
import type { ILayoutInput } from './types';
import { PIN } from './types';

/** The acyclic view of the edges: back edges reversed, loops left out. */
interface IDag {
  readonly count: number;
  readonly from: Int32Array;
  readonly to: Int32Array;
  readonly out: { offsets: Int32Array; values: Int32Array };
  readonly in: { offsets: Int32Array; values: Int32Array };
  readonly pin: Int8Array;
}

function dagOf(input: ILayoutInput, edgeClass: Uint8Array): IDag {
  const keep: number[] = [];
  for (let e = 0; e < edgeClass.length; e++) {
    if (edgeClass[e] !== EDGE.loop) {
      keep.push(e);
    }
  }
  const isBack = (e: number) => edgeClass[e] === EDGE.back;
  const from = Int32Array.from(keep, e =>
    isBack(e) ? input.target[e] : input.source[e]
  );
  const to = Int32Array.from(keep, e =>
    isBack(e) ? input.source[e] : input.target[e]
  );
  return {
    count: input.itemCount,
    from,
    to,
    out: indexBy(input.itemCount, from),
    in: indexBy(input.itemCount, to),
    pin: input.pin
  };
}

const outDegree = (dag: IDag, v: number) =>
  dag.out.offsets[v + 1] - dag.out.offsets[v];
const inDegree = (dag: IDag, v: number) =>
  dag.in.offsets[v + 1] - dag.in.offsets[v];

/** Column of the closest successor. */
function nextRank(dag: IDag, rank: Int32Array, v: number): number {
  let least = Infinity;
  for (let k = dag.out.offsets[v]; k < dag.out.offsets[v + 1]; k++) {
    least = Math.min(least, rank[dag.to[dag.out.values[k]]]);
  }
  return least;
}

/** Column of the closest predecessor. */
function previousRank(dag: IDag, rank: Int32Array, v: number): number {
  let most = -Infinity;
  for (let k = dag.in.offsets[v]; k < dag.in.offsets[v + 1]; k++) {
    most = Math.max(most, rank[dag.from[dag.in.values[k]]]);
  }
  return most;
}

/** Longest-path columns and a topological order. */
function longestPath(dag: IDag, lowest: number) {
  const rank = new Int32Array(dag.count);
  const order = new Int32Array(dag.count);
  const waiting = new Int32Array(dag.count);
  let tail = 0;
  for (let v = 0; v < dag.count; v++) {
    waiting[v] = inDegree(dag, v);
    rank[v] = dag.pin[v] === PIN.first ? 0 : lowest;
    if (waiting[v] === 0) {
      order[tail++] = v;
    }
  }
  for (let head = 0; head < tail; head++) {
    const v = order[head];
    for (let k = dag.out.offsets[v]; k < dag.out.offsets[v + 1]; k++) {
      const next = dag.to[dag.out.values[k]];
      rank[next] = Math.max(rank[next], rank[v] + 1);
      if (--waiting[next] === 0) {
        order[tail++] = next;
      }
    }
  }
  return { rank, order };
}

/** Puts the items pinned last into one column behind all others. */
function settleLast(dag: IDag, rank: Int32Array): void {
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

/** Moves every item with slack towards the side where it has more wires. */
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

/** Pulls side inputs (sources and the chains behind them) next to what reads them. */
function pullSources(dag: IDag, rank: Int32Array, order: Int32Array): void {
  const free = new Uint8Array(dag.count);
  for (const v of order) {
    let all = dag.pin[v] === PIN.none && inDegree(dag, v) <= 1;
    for (let k = dag.in.offsets[v]; k < dag.in.offsets[v + 1]; k++) {
      all = all && free[dag.from[dag.in.values[k]]] === 1;
    }
    free[v] = all ? 1 : 0;
  }
  for (let i = dag.count - 1; i >= 0; i--) {
    const v = order[i];
    if (free[v] && outDegree(dag, v) > 0) {
      rank[v] = nextRank(dag, rank, v) - 1;
    }
  }
}

/** Steps that shortening may take: what is laid out at once stays quick. */
const WORK = 3e6;

/**
 * Shortens wires. The items pinned first are one vertex, those pinned last another; wires of no weight
 * keep all else between the two.
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
  let most = 0;
  for (let v = 0; v < dag.count; v++) {
    if (dag.pin[v] === PIN.none) {
      wide[v] = rank[v] + 1;
      most = Math.max(most, rank[v] + 1);
      if (inDegree(dag, v) === 0) {
        add(first, v, 0);
      }
      if (outDegree(dag, v) === 0) {
        add(v, last, 0);
      }
    }
  }
  wide[last] = most + 1;
  const graph = {
    count: dag.count + 2,
    from: Int32Array.from(from),
    to: Int32Array.from(to),
    weight: Float64Array.from(weight)
  };
  shorten(graph, wide, WORK);
  for (let v = 0; v < dag.count; v++) {
    rank[v] = wide[vertexOf(v)];
  }
}

/** Columns farther away are not looked at for a better place. */
const MOST_STEPS = 32;

/** The two widest items of every column. */
class Widths {
  constructor(
    private readonly _width: Float64Array,
    rank: Int32Array
  ) {
    const columns = rank.reduce((most, r) => Math.max(most, r + 1), 0);
    this._first = new Float64Array(columns);
    this._second = new Float64Array(columns);
    this._rows = new Array<number[]>(columns);
    rank.forEach((r, v) => (this._rows[r] ??= []).push(v));
    for (let r = 0; r < columns; r++) {
      this._measure(r);
    }
  }

  /** How much wider the picture is for v's standing in column r, where it stands. */
  costIn(v: number, r: number): number {
    return Math.max(0, this._width[v] - this._second[r]);
  }

  /** How much wider it would be if v stood there too. */
  costOf(v: number, r: number): number {
    return Math.max(0, this._width[v] - this._first[r]);
  }

  move(v: number, from: number, to: number): void {
    this._rows[from] = this._rows[from].filter(other => other !== v);
    this._rows[to] = [...(this._rows[to] ?? []), v];
    this._measure(from);
    this._measure(to);
  }

  private _measure(r: number): void {
    let [first, second] = [0, 0];
    for (const v of this._rows[r] ?? []) {
      const w = this._width[v];
      second = Math.max(second, Math.min(first, w));
      first = Math.max(first, w);
    }
    this._first[r] = first;
    this._second[r] = second;
  }

  private readonly _first: Float64Array;
  private readonly _second: Float64Array;
  private readonly _rows: number[][];
}

/**
 * Where it makes no wire longer in columns, an item moves to a column that is wide anyway: the picture
 * gets narrower.
 */
function shareColumns(dag: IDag, rank: Int32Array, width: Float64Array): void {
  const widths = new Widths(width, rank);
  for (let v = 0; v < dag.count; v++) {
    const free = dag.pin[v] === PIN.none && inDegree(dag, v) > 0;
    if (!free || inDegree(dag, v) !== outDegree(dag, v)) {
      continue;
    }
    const from = rank[v];
    const low = Math.max(previousRank(dag, rank, v) + 1, from - MOST_STEPS);
    const high = Math.min(nextRank(dag, rank, v) - 1, from + MOST_STEPS);
    let best = from;
    let least = widths.costIn(v, from);
    for (let r = low; r <= high && least > 0; r++) {
      if (r !== from && widths.costOf(v, r) < least) {
        least = widths.costOf(v, r);
        best = r;
      }
    }
    if (best !== from) {
      widths.move(v, from, best);
      rank[v] = best;
    }
  }
}

/** Column of every item, from 0 without gaps at the ends. Every edge but a back edge points right. */
export function assignRanks(
  input: ILayoutInput,
  edgeClass: Uint8Array
): Int32Array {
  const dag = dagOf(input, edgeClass);
  const hasFirst = input.pin.includes(PIN.first);
  const { rank, order } = longestPath(dag, hasFirst ? 1 : 0);
  settleLast(dag, rank);
  for (let pass = 0; pass < 3; pass++) {
    balance(dag, rank, order);
  }
  pullSources(dag, rank, order);
  shortenWires(dag, rank);
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
  settleLast(dag, rank);
  shareColumns(dag, rank, input.width);
  return rank;
}

/** Marks edges that span more than `maxSpan` columns: they leave the columns for a lane. */
export function markBuses(
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
