/** Finds where a wire that continues in a later row may turn down before its row ends. */

import type { RowedLevel } from './rowedLevel';

/** Maximum number of columns over which passing wires are checked; no row on a screen is longer. */
const MAX_LOOKAHEAD = 64;

export class DropColumns {
  constructor(private readonly _level: RowedLevel) {}

  /**
   * The column after which a wire leaves its row: the first with nothing below the wire from there on,
   * else the last of the row. Without it, a wire that skips rows would run to the end of its row and all
   * the way back.
   */
  of(source: number, e: number, row: number): number {
    const { columns, geometry, end } = this._level;
    const { right, bottom } = columns;
    const first = geometry.rank[source];
    const last = end[row] - 1;
    for (let r = first; r < last; r++) {
      const y = this._level.heightAt(e, right[r]);
      const below = r === first ? this._below(source) : bottom[r];
      if (y >= below - 0.5 && this._isLowest(e, r, y)) {
        return r;
      }
    }
    return last;
  }

  /** Lowest edge in an item's column, ignoring the item itself; its centre if it is the lowest. */
  private _below(v: number): number {
    const { geometry, input } = this._level;
    const { y, rank } = geometry;
    let low = y[v];
    for (const other of this._items(rank[v])) {
      if (other !== v) {
        low = Math.max(low, y[other] + input.height[other] / 2);
      }
    }
    return low;
  }

  private _items(column: number): readonly number[] {
    if (this._byColumn.length === 0) {
      this._level.geometry.rank.forEach((r, v) =>
        (this._byColumn[r] ??= []).push(v)
      );
    }
    return this._byColumn[column] ?? [];
  }

  /** True if no other wire of the row lies lower in the gap after a column. */
  private _isLowest(e: number, column: number, y: number): boolean {
    const level = this._level;
    const { source, target } = level.input;
    const { left, right } = level.columns;
    const row = level.rowOf(column);
    return !this._passing(column).some(
      other =>
        source[other] !== source[e] &&
        // Wires that only pass by run on the left, next to the row.
        (level.row(source[other]) === row ||
          level.row(target[other]) === row) &&
        Math.max(
          level.heightAt(other, right[column]),
          level.heightAt(other, left[column + 1])
        ) > y
    );
  }

  /** Wires that pass the gap after a column. */
  private _passing(column: number): readonly number[] {
    if (!this._byGap) {
      this._byGap = [];
      const { geometry, input, trunks } = this._level;
      const { rank } = geometry;
      for (const { source, edges } of trunks) {
        for (const e of edges) {
          const to = Math.min(
            rank[input.target[e]],
            rank[source] + MAX_LOOKAHEAD
          );
          for (let r = rank[source]; r < to; r++) {
            (this._byGap[r] ??= []).push(e);
          }
        }
      }
    }
    return this._byGap[column] ?? [];
  }

  private readonly _byColumn: number[][] = [];
  private _byGap: number[][] | null = null;
}
