/**
 * Vertical extent of each row with its wires, and positions of ports next to it, in the layout's
 * coordinates.
 */

import { PIN } from '../layered/layoutTypes';
import { isIn, isOut } from './rowColumns';
import type { RowedLevel } from './rowedLevel';
import type { IReturn } from './returningWires';
import { PILL_GAP, PORT_STEP } from './rowSpacing';

export interface IRowExtents {
  /** By row. */
  readonly top: Float64Array;
  readonly bottom: Float64Array;
  /** Number of wires that run back above each row. */
  readonly lanes: Int32Array;
  readonly portHeight: ReadonlyMap<number, number>;
}

export function measureExtents(
  level: RowedLevel,
  byTrunk: readonly (IReturn | null)[]
): IRowExtents {
  return new ExtentMeasurer(level).measure(byTrunk);
}

class ExtentMeasurer implements IRowExtents {
  constructor(private readonly _level: RowedLevel) {
    const { rowCount } = _level;
    this.top = new Float64Array(rowCount).fill(Infinity);
    this.bottom = new Float64Array(rowCount).fill(-Infinity);
    this.lanes = new Int32Array(rowCount);
  }

  readonly top: Float64Array;
  readonly bottom: Float64Array;
  readonly lanes: Int32Array;
  readonly portHeight = new Map<number, number>();

  measure(byTrunk: readonly (IReturn | null)[]): IRowExtents {
    const level = this._level;
    const { itemCount, height, pin } = level.input;
    const { y } = level.geometry;
    for (let v = 0; v < itemCount; v++) {
      if (pin[v] === PIN.none) {
        this._include(level.row(v), y[v] - height[v] / 2, y[v] + height[v] / 2);
      }
    }
    level.trunks.forEach(({ edges }, t) =>
      edges.forEach(e => this._measureWire(e, byTrunk[t]))
    );
    this._countLanes();
    this._placePorts();
    return this;
  }

  private _include(row: number, top: number, bottom: number): void {
    this.top[row] = Math.min(this.top[row], top);
    this.bottom[row] = Math.max(this.bottom[row], bottom);
  }

  /** Measures the parts of a wire that lie in rows; the parts in between do not affect row heights. */
  private _measureWire(e: number, returns: IReturn | null): void {
    const level = this._level;
    const { columns, input } = level;
    const [s, t] = [input.source[e], input.target[e]];
    const [from, to] = [level.row(s), level.row(t)];
    const entry = isIn(input, s);
    if (!entry) {
      const end = to > from && returns ? returns.drop : level.end[from] - 1;
      this._measurePart(e, from, -Infinity, columns.right[end]);
    }
    if (to > from || entry) {
      const limit = isOut(input, t) ? level.rightOf(to) : Infinity;
      this._measurePart(e, to, columns.left[level.first[to]], limit);
    }
  }

  private _measurePart(e: number, row: number, from: number, to: number): void {
    const { points, pointOffsets } = this._level.geometry;
    const [begin, end] = [pointOffsets[e], pointOffsets[e + 1]];
    const cut = (x: number) => {
      const y = this._level.heightAt(e, x);
      this._include(row, y, y);
    };
    if (points[2 * begin] < from) {
      cut(from);
    }
    if (points[2 * end - 2] > to) {
      cut(to);
    }
    for (let i = begin; i < end; i++) {
      if (points[2 * i] >= from && points[2 * i] <= to) {
        this._include(row, points[2 * i + 1], points[2 * i + 1]);
      }
    }
  }

  private _countLanes(): void {
    const level = this._level;
    const { source, target } = level.input;
    const { rank } = level.geometry;
    for (let e = 0; e < source.length; e++) {
      if (source[e] !== target[e] && rank[source[e]] >= rank[target[e]]) {
        const [from, to] = [level.row(source[e]), level.row(target[e])];
        this.lanes[from]++;
        this.lanes[to] += from !== to ? 1 : 0;
      }
    }
  }

  private _placePorts(): void {
    const level = this._level;
    const { pin, itemCount } = level.input;
    const wires = this._wiresOfPorts();
    const sides: number[][] = [];
    for (let v = 0; v < itemCount; v++) {
      if (pin[v] !== PIN.none) {
        const row = level.row(v);
        const y = this._portY(v, row, wires.get(v) ?? []);
        this.portHeight.set(v, y);
        const key = 2 * row + (pin[v] === PIN.first ? 0 : 1);
        (sides[key] ??= []).push(v);
      }
    }
    sides.forEach((ports, key) => this._spread(ports, key >> 1));
  }

  private _wiresOfPorts(): Map<number, number[]> {
    const { source, target, pin } = this._level.input;
    const byRow = new Map<number, number[]>();
    const add = (port: number, e: number) => {
      const list = byRow.get(port);
      if (list) {
        list.push(e);
      } else {
        byRow.set(port, [e]);
      }
    };
    for (let e = 0; e < source.length; e++) {
      if (pin[source[e]] !== PIN.none) {
        add(source[e], e);
      }
      if (pin[target[e]] !== PIN.none) {
        add(target[e], e);
      }
    }
    return byRow;
  }

  /** Height of a port: where its wire passes the end of the row. */
  private _portY(v: number, row: number, wires: readonly number[]): number {
    const level = this._level;
    const { input } = level;
    for (const e of wires) {
      if (isOut(input, v)) {
        return level.heightAt(e, level.rightOf(row)) - input.targetOffset[e];
      }
      if (level.row(input.target[e]) === row) {
        return level.entryY(e, row) - input.sourceOffset[e];
      }
    }
    return level.geometry.y[v];
  }

  /**
   * Spaces ports on one side of a row, as close as possible to the heights of their wires: least squares,
   * by pooling adjacent violators (Ayer et al. 1955).
   */
  private _spread(ports: number[], row: number): void {
    const { input, geometry } = this._level;
    const ideal = (v: number) => this.portHeight.get(v) as number;
    ports.sort((a, b) => ideal(a) - ideal(b) || geometry.y[a] - geometry.y[b]);
    const below: number[] = [];
    const pools: { sum: number; count: number }[] = [];
    ports.forEach((v, i) => {
      const high = (input.height[ports[i - 1]] + input.height[v]) / 2;
      below[i] =
        i > 0 ? below[i - 1] + Math.max(PORT_STEP, high + PILL_GAP) : 0;
      let pool = { sum: ideal(v) - below[i], count: 1 };
      for (let last = pools.pop(); last; last = pools.pop()) {
        if (last.sum / last.count <= pool.sum / pool.count) {
          pools.push(last);
          break;
        }
        pool = { sum: last.sum + pool.sum, count: last.count + pool.count };
      }
      pools.push(pool);
    });
    let i = 0;
    for (const { sum, count } of pools) {
      for (let n = 0; n < count; n++, i++) {
        const position = sum / count + below[i];
        const half = Math.max(PORT_STEP / 2, input.height[ports[i]]) / 2;
        this.portHeight.set(ports[i], position);
        this._include(row, position - half, position + half);
      }
    }
  }
}
