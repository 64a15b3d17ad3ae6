/**
 * Wrapped flow: a laid out level set in rows, like text. A row ends at a column that few wires pass; what
 * passes it returns in the gutter below and goes on at the left of the row that reads it.
 *
 * A pass over a finished layout: columns, order and heights stay, whole columns move. Linear in items and
 * bends, but for the choice of the breaks: columns times columns a row.
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

/** The layout in rows no wider than the room, as far as columns allow; itself where it fits. */
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
  const { x, y, width, height, ...places } = placeRows(level, returns, extents);
  const all = { x, y, width, height, ...places };
  const returning = returns.inGutter.reduce((sum, n) => sum + n, 0);
  return {
    ...geometry,
    x,
    y,
    width,
    height,
    ...routeRowWires(level, returns, extents, all),
    ...({ breaks, returning } satisfies Partial<IRowedResult>)
  };
}
