/** Column widths: moves wide items into columns that are wide anyway. */

import { inDegree, nextRank, outDegree, previousRank } from './dag';
import type { IDag } from './dag';
import { PIN } from './layoutTypes';

/** Maximum distance, in columns, of a better position. */
const MAX_STEPS = 32;

/** Items of fuller columns are not moved, since the cost grows with the number of items. */
const MAX_ITEMS = 256;

/** The widths of the two widest items of every column. */
class ColumnWidths {
  constructor(
    private readonly _width: Float64Array,
    rank: Int32Array
  ) {
    const columns = rank.reduce((max, r) => Math.max(max, r + 1), 0);
    this._first = new Float64Array(columns);
    this._second = new Float64Array(columns);
    this._rows = new Array<number[]>(columns);
    rank.forEach((r, v) => (this._rows[r] ??= []).push(v));
    for (let r = 0; r < columns; r++) {
      this._measure(r);
    }
  }

  /** Width that the graph gains because v is in its column r. */
  costIn(v: number, r: number): number {
    return this._rows[r].length > MAX_ITEMS
      ? 0
      : Math.max(0, this._width[v] - this._second[r]);
  }

  /** Width that the graph would gain if v were in column r. */
  costOf(v: number, r: number): number {
    return Math.max(0, this._width[v] - this._first[r]);
  }

  move(v: number, from: number, to: number): void {
    this._rows[from] = this._rows[from].filter(other => other !== v);
    this._measure(from);
    (this._rows[to] ??= []).push(v);
    this._include(v, to);
  }

  private _measure(r: number): void {
    this._first[r] = 0;
    this._second[r] = 0;
    (this._rows[r] ?? []).forEach(v => this._include(v, r));
  }

  private _include(v: number, r: number): void {
    const w = this._width[v];
    this._second[r] = Math.max(this._second[r], Math.min(this._first[r], w));
    this._first[r] = Math.max(this._first[r], w);
  }

  private readonly _first: Float64Array;
  private readonly _second: Float64Array;
  private readonly _rows: number[][];
}

/**
 * Moves items to columns that are wide anyway, if that makes no wire longer (in columns): the graph
 * becomes narrower.
 */
export function compactColumns(
  dag: IDag,
  rank: Int32Array,
  width: Float64Array
): void {
  const widths = new ColumnWidths(width, rank);
  for (let v = 0; v < dag.count; v++) {
    const free = dag.pin[v] === PIN.none && inDegree(dag, v) > 0;
    if (!free || inDegree(dag, v) !== outDegree(dag, v)) {
      continue;
    }
    const from = rank[v];
    const low = Math.max(previousRank(dag, rank, v) + 1, from - MAX_STEPS);
    const high = Math.min(nextRank(dag, rank, v) - 1, from + MAX_STEPS);
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
