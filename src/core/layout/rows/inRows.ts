/**
 * Wrapped flow: wraps a layout into rows, like text. A row ends at a column that few wires pass; those
 * that do return in the gutter below and continue at the left of the row that reads them.
 *
 * This is a pass over a finished layout: columns, order and heights stay, whole columns move. Linear in
 * items and bends, except for the choice of breaks, which is quadratic in the columns of a row.
 */

import type { ILayoutInput, ILayoutResult } from '../layered/layoutTypes';
import { chooseBreaks } from './rowBreaks';
import { rowColumns, trunksOf } from './rowColumns';
import { measureExtents } from './rowExtents';
import { RowedLevel } from './rowedLevel';
import { placeRows } from './rowPlacement';
import type { IRowedResult, IRowOptions } from './rowedResult';
import { returnsOf } from './returningWires';
import { OUT_SIDE, PORTS_SIDE, TRACK, TURN } from './rowSpacing';
import { routeRowWires } from './rowWires';

/**
 * The layout in rows that are no wider than `room`, as far as the columns allow; unchanged if it fits.
 */
export function layOutInRows(
  input: ILayoutInput,
  geometry: ILayoutResult,
  { room, kept = [] }: IRowOptions
): ILayoutResult {
  if (geometry.width <= room || input.itemCount < 2) {
    return geometry;
  }
  const trunks = trunksOf(input, geometry.rank);
  const columns = rowColumns(input, geometry, trunks);
  if (!columns) {
    return geometry;
  }
  const begins = new Set<number>();
  for (const v of kept) {
    if (v < input.itemCount) {
      begins.add(geometry.rank[v]);
    }
  }
  const sides =
    (columns.from > 0 ? PORTS_SIDE : TURN + TRACK) +
    (columns.to < columns.left.length ? OUT_SIDE : 0);
  const breaks = chooseBreaks(columns, Math.max(1, room - sides), column =>
    begins.has(column)
  );
  if (breaks.length === 0) {
    return geometry;
  }
  const level = new RowedLevel(input, geometry, columns, trunks, breaks);
  const returns = returnsOf(level);
  const extents = measureExtents(level, returns.byTrunk);
  const { x, y, width, height, ...rowPlaces } = placeRows(
    level,
    returns,
    extents
  );
  const placement = { x, y, width, height, ...rowPlaces };
  const returning = returns.inGutter.reduce((sum, n) => sum + n, 0);
  return {
    ...geometry,
    x,
    y,
    width,
    height,
    ...routeRowWires(level, returns, extents, placement),
    ...({ breaks, returning } satisfies Partial<IRowedResult>)
  };
}
