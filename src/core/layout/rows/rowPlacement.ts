/** Stacks the rows: the offset of each, and the position of its gutter. */

import { PIN } from '../layered/layoutTypes';
import { isIn, isOut } from './rowColumns';
import type { IRowExtents } from './rowExtents';
import type { RowedLevel } from './rowedLevel';
import type { IReturns } from './returningWires';
import {
  FIRST_LANE,
  GUTTER,
  LANE,
  MIN_GUTTER,
  PORT_GAP,
  TRACK,
  TURN,
  TURN_BACK
} from './rowSpacing';

export interface IRowPlaces {
  /** Left edge of the rows. */
  readonly start: number;
  /** By row: offset from the layout to the final position. */
  readonly shiftX: Float64Array;
  readonly shiftY: Float64Array;
  /** Height of the first wire in the gutter below each row. */
  readonly gutterAt: Float64Array;
  /** Centres of the items. */
  readonly x: Float64Array;
  readonly y: Float64Array;
  readonly width: number;
  readonly height: number;
}

export function placeRows(
  level: RowedLevel,
  returns: IReturns,
  extents: IRowExtents
): IRowPlaces {
  const { left } = level.columns;
  const start = startOf(level, returns, extents);
  const shiftX = Float64Array.from(level.first, first => start - left[first]);
  const heights = stack(returns, extents);
  const width = widthOf(level, returns, extents, shiftX);
  const placement = { start, shiftX, ...heights, width };
  return { ...placement, ...movedItems(level, extents, placement) };
}

/** Width on the left for incoming wires and for those that run down next to the rows. */
function startOf(
  { columns, first }: RowedLevel,
  returns: IReturns,
  { lanes }: IRowExtents
): number {
  const { from, left, right } = columns;
  const hasInPorts = from > 0;
  const port = hasInPorts ? right[0] - left[0] : 0;
  const gap = hasInPorts ? left[first[0]] - right[0] : 0;
  const sides = Math.max(returns.tracks, lanes.some(n => n > 0) ? 1 : 0);
  const tracks = sides > 0 ? TURN + (sides - 1) * TRACK + TURN / 2 : 0;
  return port + Math.max(gap, tracks);
}

function stack(
  { inGutter }: IReturns,
  { top, bottom, lanes }: IRowExtents
): Pick<IRowPlaces, 'shiftY' | 'gutterAt' | 'height'> {
  const shiftY = new Float64Array(top.length);
  const gutterAt = new Float64Array(top.length);
  let y = 0;
  for (let row = 0; row < top.length; row++) {
    y += lanes[row] > 0 ? FIRST_LANE + lanes[row] * LANE : 0;
    shiftY[row] = y - top[row];
    y += bottom[row] - top[row];
    if (row + 1 < top.length) {
      gutterAt[row] = y + GUTTER;
      const count = inGutter[row];
      const gutterSize = count > 0 ? 2 * GUTTER + (count - 1) * TRACK : 0;
      y += Math.max(MIN_GUTTER, gutterSize);
    }
  }
  return { shiftY, gutterAt, height: y };
}

function widthOf(
  level: RowedLevel,
  { turning }: IReturns,
  { lanes }: IRowExtents,
  shiftX: Float64Array
): number {
  const { columns, input } = level;
  const hasOutPorts = columns.to < columns.left.length;
  // Next to a border with ports, even the outermost wire keeps its distance.
  const border = hasOutPorts ? TRACK : 0;
  const end = (row: number) => shiftX[row] + level.rightOf(row);
  let width = 0;
  for (let row = 0; row < level.rowCount; row++) {
    const lane = lanes[row] > 0 ? TURN_BACK + border : 0;
    const turnWidth =
      turning[row] > 0 ? TURN + (turning[row] - 1) * TRACK + border : lane;
    width = Math.max(width, end(row) + turnWidth);
  }
  for (const [v, row] of level.portRow) {
    if (isOut(input, v)) {
      const distance = Math.max(PORT_GAP, TURN + turning[row] * TRACK);
      width = Math.max(width, end(row) + distance + input.width[v]);
    }
  }
  return width;
}

function movedItems(
  level: RowedLevel,
  { portHeight }: IRowExtents,
  { shiftX, shiftY, width }: Pick<IRowPlaces, 'shiftX' | 'shiftY' | 'width'>
): Pick<IRowPlaces, 'x' | 'y'> {
  const { input, geometry } = level;
  const x = geometry.x.slice();
  const y = geometry.y.slice();
  for (let v = 0; v < input.itemCount; v++) {
    const row = level.row(v);
    if (input.pin[v] === PIN.none) {
      x[v] += shiftX[row];
      y[v] += shiftY[row];
    } else {
      const half = input.width[v] / 2;
      x[v] = isIn(input, v) ? half : width - half;
      y[v] = (portHeight.get(v) ?? 0) + shiftY[row];
    }
  }
  return { x, y };
}
