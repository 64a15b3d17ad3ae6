/**
 * The wires of a level in rows: their pieces within rows as laid out, and the connections between rows.
 */

import { isIn, isOut } from './rowColumns';
import type { IRowExtents } from './rowExtents';
import type { RowedLevel } from './rowedLevel';
import type { IRowPlaces } from './rowPlacement';
import type { IReturn, IReturns } from './returningWires';
import {
  DROP,
  FIRST_LANE,
  LANE,
  PORT_GAP,
  TRACK,
  TURN,
  TURN_BACK
} from './rowSpacing';

export interface IRowWires {
  readonly points: Float64Array;
  readonly pointOffsets: Int32Array;
}

export function routeRowWires(
  level: RowedLevel,
  returns: IReturns,
  extents: IRowExtents,
  rowPlaces: IRowPlaces
): IRowWires {
  return new RowWireRouter(level, extents, rowPlaces).run(returns);
}

class RowWireRouter {
  constructor(
    private readonly _level: RowedLevel,
    private readonly _extents: IRowExtents,
    private readonly _places: IRowPlaces
  ) {
    this._lanes = new Int32Array(_level.rowCount);
  }

  run({ byTrunk }: IReturns): IRowWires {
    const { source, target } = this._level.input;
    const { rank } = this._level.geometry;
    const trunkOf = new Int32Array(source.length).fill(-1);
    this._level.trunks.forEach(({ edges }, t) =>
      edges.forEach(e => (trunkOf[e] = t))
    );
    const pointOffsets = new Int32Array(source.length + 1);
    for (let e = 0; e < source.length; e++) {
      this._begin = this._points.length;
      if (rank[source[e]] < rank[target[e]]) {
        this._forward(e, byTrunk[trunkOf[e]]);
      } else if (source[e] !== target[e]) {
        this._back(e);
      }
      pointOffsets[e + 1] = this._points.length / 2;
    }
    return { points: Float64Array.from(this._points), pointOffsets };
  }

  private _forward(e: number, returns: IReturn | null): void {
    const { _level: level, _places: rowPlaces } = this;
    const { input, columns } = level;
    const [s, t] = [input.source[e], input.target[e]];
    const [from, to] = [level.row(s), level.row(t)];
    const end = to > from && returns ? returns.drop : level.end[from] - 1;
    if (isIn(input, s)) {
      this._add(rowPlaces.x[s] + input.width[s] / 2, this._sourceY(e));
    } else {
      this._slice(e, from, -Infinity, columns.right[end]);
    }
    if (to > from && returns) {
      this._return(returns, e, from, to);
    }
    if (to > from || isIn(input, s)) {
      // A wire to a port on the right leaves its row at the end.
      const limit = isOut(input, t) ? level.rightOf(to) : Infinity;
      this._slice(e, to, columns.left[level.first[to]], limit);
    }
    if (isOut(input, t)) {
      // A wire at another height than its port bends behind the last card, because shapes are shown on
      // the rest of it.
      const last = level.rightOf(to) + rowPlaces.shiftX[to];
      const y = rowPlaces.y[t] + input.targetOffset[e];
      this._add(last + PORT_GAP - PORT_GAP / 4, y);
      this._add(rowPlaces.x[t] - input.width[t] / 2, y);
    }
  }

  /** Height at which a wire leaves its source. */
  private _sourceY(e: number): number {
    const { source, sourceOffset } = this._level.input;
    return this._places.y[source[e]] + sourceOffset[e];
  }

  /** Adds the points of a wire in a row, between two x positions. */
  private _slice(e: number, row: number, from: number, to: number): void {
    const { points, pointOffsets } = this._level.geometry;
    const dx = this._places.shiftX[row];
    const dy = this._places.shiftY[row];
    const begin = pointOffsets[e];
    const end = pointOffsets[e + 1];
    if (points[2 * begin] < from) {
      this._add(from + dx, this._level.heightAt(e, from) + dy);
    }
    for (let i = begin; i < end; i++) {
      if (points[2 * i] >= from && points[2 * i] <= to) {
        this._add(points[2 * i] + dx, points[2 * i + 1] + dy);
      }
    }
    if (points[2 * end - 2] > to) {
      this._add(to + dx, this._level.heightAt(e, to) + dy);
    }
  }

  /** Routes a wire from the end of a row, or a port, to the beginning of a later row. */
  private _return(r: IReturn, e: number, from: number, to: number): void {
    const { _level: level, _places: rowPlaces } = this;
    const x = rowPlaces.start - TURN - r.left * TRACK;
    if (r.entry) {
      this._add(x, this._sourceY(e));
    } else {
      const end = level.columns.right[r.drop] + rowPlaces.shiftX[from];
      const step = r.drop === level.end[from] - 1 ? TRACK : DROP;
      const turnX = end + TURN + r.right * step;
      const gutter = rowPlaces.gutterAt[from] + r.gutter * TRACK;
      this._add(turnX, r.exitY + rowPlaces.shiftY[from]);
      this._add(turnX, gutter);
      this._add(x, gutter);
    }
    this._add(x, level.entryY(e, to) + rowPlaces.shiftY[to]);
  }

  /**
   * Routes a wire that closes a cycle: above its row, or up on the left; it turns in gaps between
   * columns.
   */
  private _back(e: number): void {
    const { _level: level, _places: rowPlaces } = this;
    const { source, target, width, targetOffset } = level.input;
    const [s, t] = [source[e], target[e]];
    const [from, to] = [level.row(s), level.row(t)];
    const { left, right } = level.columns;
    const { rank } = level.geometry;
    const y0 = this._sourceY(e);
    const y1 = rowPlaces.y[t] + targetOffset[e];
    const startX = right[rank[s]] + rowPlaces.shiftX[from] + TURN_BACK;
    const endX = left[rank[t]] + rowPlaces.shiftX[to] - TURN_BACK;
    const lane = this._lane(from);
    this._add(rowPlaces.x[s] + width[s] / 2, y0);
    this._add(startX, y0);
    this._add(startX, lane);
    if (from !== to) {
      const up = this._lane(to);
      this._add(rowPlaces.start - TURN, lane);
      this._add(rowPlaces.start - TURN, up);
      this._add(endX, up);
    } else {
      this._add(endX, lane);
    }
    this._add(endX, y1);
    this._add(rowPlaces.x[t] - width[t] / 2, y1);
  }

  /** The next free height above a row. */
  private _lane(row: number): number {
    const top = this._extents.top[row] + this._places.shiftY[row];
    return top - FIRST_LANE - this._lanes[row]++ * LANE;
  }

  /** Adds a point; one that only extends a horizontal piece replaces the last. */
  private _add(x: number, y: number): void {
    const points = this._points;
    const n = points.length;
    if (n - this._begin >= 4) {
      const level = points[n - 1] === y && points[n - 3] === y;
      const goesOn = (points[n - 2] - points[n - 4]) * (x - points[n - 2]) >= 0;
      if (level && goesOn) {
        points[n - 2] = x;
        return;
      }
    }
    if (n > this._begin && points[n - 2] === x && points[n - 1] === y) {
      return;
    }
    points.push(x, y);
  }

  /** Number of lanes used above each row. */
  private readonly _lanes: Int32Array;
  private readonly _points: number[] = [];
  private _begin = 0;
}
