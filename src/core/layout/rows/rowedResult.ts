/** Input and output of wrapping a level into rows. */

import type { ILayoutResult } from '../layered/layoutTypes';

/** A layout in rows. */
export interface IRowedResult extends ILayoutResult {
  /** First column of each row after the first. */
  readonly breaks: readonly number[];
  /** Number of tensors that return in gutters. */
  readonly returning: number;
}

export interface IRowOptions {
  /** Maximum width of a row, including returning wires at its sides, px. */
  readonly room: number;
  /** Items that began a row in the previous layout: their breaks are kept if possible. */
  readonly kept?: readonly number[];
}

/** The layout as a layout in rows; null if it has a single row. */
export function asRowedResult(result: ILayoutResult): IRowedResult | null {
  return 'breaks' in result ? (result as IRowedResult) : null;
}
