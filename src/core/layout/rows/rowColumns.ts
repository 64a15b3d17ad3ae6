/** The columns of a layout, and the wires that a break before each of them would cut. */

import { PIN } from '../layered/layoutTypes';
import type { ILayoutInput, ILayoutResult } from '../layered/layoutTypes';

/** Columns of the layout that are placed in rows, by number; ports have separate columns next to them. */
export interface IRowColumns {
  /** First column, and the one after the last. */
  readonly from: number;
  readonly to: number;
  readonly left: Float64Array;
  readonly right: Float64Array;
  /** Vertical extent of the items and wires in a column. */
  readonly top: Float64Array;
  readonly bottom: Float64Array;
  /** Number of wires that a break before the column cuts. */
  readonly cuts: Float64Array;
}

/** All wires of one tensor from one item that follow the flow. */
export interface ITrunk {
  readonly source: number;
  readonly edges: number[];
}

export const isIn = (input: ILayoutInput, v: number): boolean =>
  input.pin[v] === PIN.first;
export const isOut = (input: ILayoutInput, v: number): boolean =>
  input.pin[v] === PIN.last;

export function trunksOf(input: ILayoutInput, rank: Int32Array): ITrunk[] {
  const trunks = new Map<number, ITrunk>();
  const { source, target, trunk } = input;
  for (let e = 0; e < source.length; e++) {
    if (rank[source[e]] < rank[target[e]]) {
      const key = source[e] * 2 ** 26 + trunk[e];
      const existing = trunks.get(key);
      if (existing) {
        existing.edges.push(e);
      } else {
        trunks.set(key, { source: source[e], edges: [e] });
      }
    }
  }
  return [...trunks.values()];
}

/** Height of a wire, whose points go from left to right, at a given x. */
export function heightAt(
  { points, pointOffsets }: ILayoutResult,
  e: number,
  x: number
): number {
  const last = pointOffsets[e + 1] - 1;
  // The first point at or after x: long wires have one per column.
  let [low, high] = [pointOffsets[e] + 1, last];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (points[2 * middle] >= x - 1e-6) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  const [x0, y0] = [points[2 * low - 2], points[2 * low - 1]];
  const [x1, y1] = [points[2 * low], points[2 * low + 1]];
  if (x >= x1) {
    return y1;
  }
  return x <= x0 || x1 === x0 ? y0 : y0 + ((y1 - y0) * (x - x0)) / (x1 - x0);
}

/** The columns; null if a port shares one with another item. */
export function rowColumns(
  input: ILayoutInput,
  geometry: ILayoutResult,
  trunks: readonly ITrunk[]
): IRowColumns | null {
  const { rank, x, y } = geometry;
  let count = 0;
  for (let v = 0; v < input.itemCount; v++) {
    count = Math.max(count, rank[v] + 1);
  }
  const left = new Float64Array(count).fill(Infinity);
  const right = new Float64Array(count).fill(-Infinity);
  const top = new Float64Array(count).fill(Infinity);
  const bottom = new Float64Array(count).fill(-Infinity);
  let [from, to] = [0, count];
  for (let v = 0; v < input.itemCount; v++) {
    const r = rank[v];
    left[r] = Math.min(left[r], x[v] - input.width[v] / 2);
    right[r] = Math.max(right[r], x[v] + input.width[v] / 2);
    if (isIn(input, v)) {
      from = 1;
    } else if (isOut(input, v)) {
      to = count - 1;
    } else {
      top[r] = Math.min(top[r], y[v] - input.height[v] / 2);
      bottom[r] = Math.max(bottom[r], y[v] + input.height[v] / 2);
    }
  }
  const shares = (r: number) => top[r] < Infinity;
  if ((from === 1 && shares(0)) || (to < count && shares(count - 1))) {
    return null;
  }
  const columns = { from, to, left, right, top, bottom };
  return { ...columns, cuts: cutsBefore(input, geometry, trunks, columns) };
}

/** Counts the wires that pass the left edge of each column, and extends the columns by them. */
function cutsBefore(
  input: ILayoutInput,
  geometry: ILayoutResult,
  trunks: readonly ITrunk[],
  { from, to, left, top, bottom }: Omit<IRowColumns, 'cuts'>
): Float64Array {
  const { rank } = geometry;
  const cuts = new Float64Array(left.length + 1);
  for (const { source, edges } of trunks) {
    let last = -1;
    let nextColumn = Math.max(from, rank[source] + 1);
    for (const e of edges) {
      const t = input.target[e];
      const end = Math.min(to, rank[t]);
      // Wires of one trunk run together, so each part is measured once.
      for (let r = nextColumn; r < end; r++) {
        const lane = heightAt(geometry, e, left[r]);
        top[r] = Math.min(top[r], lane);
        bottom[r] = Math.max(bottom[r], lane);
      }
      nextColumn =
        edges.length > MAX_TRUNK_WIRES ? Math.max(nextColumn, end) : nextColumn;
      if (!isOut(input, t)) {
        last = Math.max(last, rank[t]);
      }
    }
    // A tensor from outside enters next to the row that reads it.
    const first = isIn(input, source)
      ? edges.reduce((least, e) => Math.min(least, rank[input.target[e]]), last)
      : rank[source];
    cuts[first + 1] += 1;
    cuts[Math.max(first, last) + 1] -= 1;
  }
  for (let r = 1; r < cuts.length; r++) {
    cuts[r] += cuts[r - 1];
  }
  return cuts;
}

/** In larger trunks, only the parts beyond the other wires are measured. */
const MAX_TRUNK_WIRES = 64;
