/** A level with its rows: the row of each item, port and wire end. */

import type { ILayoutInput, ILayoutResult } from '../layered/layoutTypes';
import type { IRowColumns, ITrunk } from './rowColumns';
import { heightAt, isIn, isOut } from './rowColumns';

export class RowedLevel {
  constructor(
    readonly input: ILayoutInput,
    readonly geometry: ILayoutResult,
    readonly columns: IRowColumns,
    readonly trunks: readonly ITrunk[],
    breaks: readonly number[]
  ) {
    const { from, to } = columns;
    this.first = [from, ...breaks];
    this.end = [...breaks, to];
    this._rowOf = new Int32Array(columns.left.length);
    this.first.forEach((column, row) =>
      this._rowOf.fill(row, column, this.end[row])
    );
    this._placeOutPorts();
    this._placeInPorts();
  }

  /** First column of each row, and the one after its last. */
  readonly first: readonly number[];
  readonly end: readonly number[];
  /** Row of each port that has a wire. */
  readonly portRow = new Map<number, number>();

  get rowCount(): number {
    return this.first.length;
  }

  /** Row of an item; for a port, the row next to it. */
  row(v: number): number {
    return this.portRow.get(v) ?? this._rowOf[this.geometry.rank[v]];
  }

  /** Row of a column. */
  rowOf(column: number): number {
    return this._rowOf[column];
  }

  heightAt(e: number, x: number): number {
    return heightAt(this.geometry, e, x);
  }

  /** Height in the layout at which a wire enters a row. */
  entryY(e: number, row: number): number {
    return this.heightAt(e, this.columns.left[this.first[row]]);
  }

  /** Right edge of a row's last column, in the layout. */
  rightOf(row: number): number {
    return this.columns.right[this.end[row] - 1];
  }

  /** Places leaving ports next to the row that produces their tensor. */
  private _placeOutPorts(): void {
    const { input, portRow } = this;
    const lastRow = this.rowCount - 1;
    for (const { source, edges } of this.trunks) {
      const row = isIn(input, source)
        ? lastRow
        : this._rowOf[this.geometry.rank[source]];
      for (const e of edges) {
        const target = input.target[e];
        if (isOut(input, target)) {
          portRow.set(target, Math.max(portRow.get(target) ?? -1, row));
        }
      }
    }
  }

  /** Places entering ports next to the first row that reads them. */
  private _placeInPorts(): void {
    const { input, portRow } = this;
    for (const { source, edges } of this.trunks) {
      if (isIn(input, source)) {
        const row = edges.reduce(
          (least, e) => Math.min(least, this.row(input.target[e])),
          portRow.get(source) ?? Infinity
        );
        portRow.set(source, row);
      }
    }
  }

  /** By column. */
  private readonly _rowOf: Int32Array;
}
