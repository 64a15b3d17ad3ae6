/** What setting a level in rows takes and gives. */

import type { ILayoutResult } from '../layered/layoutTypes';

/** A layout in rows. */
export interface IRowedResult extends ILayoutResult {
  /** First column of each row after the first. */
  readonly breaks: readonly number[];
  /** Tensors that return in gutters. */
  readonly returning: number;
}

export interface IRowOptions {
  /** Width that a row may take, with what returns at its sides, px. */
  readonly room: number;
  /** Items that began a row when the level was laid out last: breaks before them are kept where they can. */
  readonly kept?: readonly number[];
}

/** The rows of a layout; null for one that is not in rows. */
export function asRowedResult(result: ILayoutResult): IRowedResult | null {
  return 'breaks' in result ? (result as IRowedResult) : null;
}
