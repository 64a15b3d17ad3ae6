/**
 * Uniform grid over the boxes and wires of a scene, for culling and hit testing. Built once per scene in
 * linear time; queries allocate only their result.
 */
import { BoxKind, type IScene } from '../../../core/types';
import type { IRect } from '../geometry/camera';
import { someChord } from '../geometry/wirePath';
import { TITLE_BAR } from '../style/metrics';

const CELL = 400;
/** Items that cover more cells are checked in every query instead of being stored per cell. */
const MAX_CELLS_PER_ITEM = 64;

class UniformGrid {
  private readonly _columns: number;
  private readonly _rows: number;
  private readonly _cell: number;
  private readonly _start: Int32Array;
  private readonly _items: Int32Array;
  private readonly _large: number[] = [];
  private readonly _stamp: Int32Array;
  private _round = 0;

  /** `rects` has x0, y0, x1, y1 per row; row i belongs to `owner(i)`. */
  constructor(
    rects: Float64Array,
    private readonly _owner: Int32Array | null,
    owners: number,
    width: number,
    height: number
  ) {
    const count = rects.length / 4;
    const cellSize = Math.sqrt(
      (Math.max(1, width) * Math.max(1, height)) / (4 * count + 1024)
    );
    this._cell = Math.max(CELL, cellSize);
    this._columns = Math.max(1, Math.ceil(width / this._cell));
    this._rows = Math.max(1, Math.ceil(height / this._cell));
    this._stamp = new Int32Array(owners);
    this._start = new Int32Array(this._columns * this._rows + 1);
    this._visit(rects, true, cell => void this._start[cell + 1]++);
    for (let i = 1; i < this._start.length; i++) {
      this._start[i] += this._start[i - 1];
    }
    this._items = new Int32Array(this._start[this._start.length - 1]);
    const next = this._start.slice();
    this._visit(
      rects,
      false,
      (cell, row) => void (this._items[next[cell]++] = row)
    );
  }

  /** Calls `onMatch` once for every owner that may touch the rectangle. */
  query(r: IRect, onMatch: (owner: number) => void): void {
    const round = ++this._round;
    const visitRow = (row: number): void => {
      const owner = this._owner ? this._owner[row] : row;
      if (this._stamp[owner] !== round) {
        this._stamp[owner] = round;
        onMatch(owner);
      }
    };
    const c0 = this._column(r.x);
    const c1 = this._column(r.x + r.w);
    const r0 = this._row(r.y);
    const r1 = this._row(r.y + r.h);
    for (let y = r0; y <= r1; y++) {
      // The cells of a row are adjacent, and so are their items.
      const from = this._start[y * this._columns + c0];
      const to = this._start[y * this._columns + c1 + 1];
      for (let i = from; i < to; i++) {
        visitRow(this._items[i]);
      }
    }
    this._large.forEach(visitRow);
  }

  /** An upper bound of the number that `query` would find, without checking each item. */
  count(r: IRect): number {
    const c0 = this._column(r.x);
    const c1 = this._column(r.x + r.w);
    let count = this._large.length;
    for (let y = this._row(r.y); y <= this._row(r.y + r.h); y++) {
      count +=
        this._start[y * this._columns + c1 + 1] -
        this._start[y * this._columns + c0];
    }
    return count;
  }

  private _column(x: number): number {
    return Math.min(this._columns - 1, Math.max(0, Math.floor(x / this._cell)));
  }

  private _row(y: number): number {
    return Math.min(this._rows - 1, Math.max(0, Math.floor(y / this._cell)));
  }

  private _visit(
    rects: Float64Array,
    collectLarge: boolean,
    each: (cell: number, row: number) => void
  ): void {
    for (let i = 0, n = rects.length / 4; i < n; i++) {
      const c0 = this._column(rects[4 * i]);
      const r0 = this._row(rects[4 * i + 1]);
      const c1 = this._column(rects[4 * i + 2]);
      const r1 = this._row(rects[4 * i + 3]);
      if ((c1 - c0 + 1) * (r1 - r0 + 1) > MAX_CELLS_PER_ITEM) {
        if (collectLarge) {
          this._large.push(i);
        }
        continue;
      }
      for (let y = r0; y <= r1; y++) {
        for (let x = c0; x <= c1; x++) {
          each(y * this._columns + x, i);
        }
      }
    }
  }
}

export class SpatialIndex {
  private readonly _boxes: UniformGrid;
  private readonly _edges: UniformGrid;

  constructor(private readonly _scene: IScene) {
    const n = _scene.boxCount;
    const rects = new Float64Array(4 * n);
    for (let b = 0; b < n; b++) {
      rects[4 * b] = _scene.boxX[b];
      rects[4 * b + 1] = _scene.boxY[b];
      rects[4 * b + 2] = _scene.boxX[b] + _scene.boxW[b];
      rects[4 * b + 3] = _scene.boxY[b] + _scene.boxH[b];
    }
    this._boxes = new UniformGrid(rects, null, n, _scene.width, _scene.height);
    const { rows, owner } = segmentRects(_scene);
    this._edges = new UniformGrid(
      rows,
      owner,
      _scene.edgeCount,
      _scene.width,
      _scene.height
    );
  }

  /** Boxes that touch the rectangle, unordered. */
  boxesIn(r: IRect): number[] {
    const s = this._scene;
    const matches: number[] = [];
    this._boxes.query(r, b => {
      if (
        s.boxX[b] <= r.x + r.w &&
        s.boxX[b] + s.boxW[b] >= r.x &&
        s.boxY[b] <= r.y + r.h &&
        s.boxY[b] + s.boxH[b] >= r.y
      ) {
        matches.push(b);
      }
    });
    return matches;
  }

  /** A quick upper bound of the number of boxes that touch the rectangle. */
  countBoxes(r: IRect): number {
    return this._boxes.count(r);
  }

  /** Edges with a piece in a cell that the rectangle touches, unordered. */
  edgesIn(r: IRect): number[] {
    const matches: number[] = [];
    this._edges.query(r, e => void matches.push(e));
    return matches;
  }

  /**
   * The innermost box at a world point; -1 if there is none. For an open group only the title bar counts.
   */
  pick(x: number, y: number, tolerance = 0): number {
    const s = this._scene;
    let best = -1;
    const r = {
      x: x - tolerance,
      y: y - tolerance,
      w: 2 * tolerance,
      h: 2 * tolerance
    };
    this._boxes.query(r, b => {
      const h =
        s.boxKind[b] === BoxKind.OpenGroup
          ? Math.min(TITLE_BAR, s.boxH[b])
          : s.boxH[b];
      if (
        b > best &&
        x >= s.boxX[b] - tolerance &&
        x <= s.boxX[b] + s.boxW[b] + tolerance &&
        y >= s.boxY[b] - tolerance &&
        y <= s.boxY[b] + h + tolerance
      ) {
        best = b;
      }
    });
    return best;
  }

  /** The closest wire within `tolerance` world units of a point; -1 if there is none. */
  pickEdge(x: number, y: number, tolerance: number): number {
    const s = this._scene;
    const r = {
      x: x - tolerance,
      y: y - tolerance,
      w: 2 * tolerance,
      h: 2 * tolerance
    };
    let best = -1;
    let nearest = tolerance;
    this._edges.query(r, e => {
      for (let i = s.edgeOffsets[e]; i + 1 < s.edgeOffsets[e + 1]; i++) {
        const d = curveDistance(s, i, x, y);
        if (d < nearest) {
          nearest = d;
          best = e;
        }
      }
    });
    return best;
  }
}

/** The part of a line inside a rectangle, from 0 to 1 along the line; null if there is none. */
export function within(
  ax: number,
  ay: number,
  bx: number,
  by: number,
  { x, y, w, h }: IRect
): readonly [from: number, to: number] | null {
  let [from, to] = [0, 1];
  const cut = (a: number, d: number, low: number, high: number): boolean => {
    if (Math.abs(d) < 1e-9) {
      return a > low && a < high;
    }
    const [t, u] = [(low - a) / d, (high - a) / d];
    from = Math.max(from, Math.min(t, u));
    to = Math.min(to, Math.max(t, u));
    return from < to;
  };
  return cut(ax, bx - ax, x, x + w) && cut(ay, by - ay, y, y + h)
    ? [from, to]
    : null;
}

/** True if a wire passes through a rectangle. */
export function crosses(scene: IScene, edge: number, r: IRect): boolean {
  const end = scene.edgeOffsets[edge + 1];
  for (let i = scene.edgeOffsets[edge]; i + 1 < end; i++) {
    if (someChord(scene, i, (...line) => within(...line, r) !== null)) {
      return true;
    }
  }
  return false;
}

function segmentRects(scene: IScene): {
  rows: Float64Array;
  owner: Int32Array;
} {
  let count = 0;
  for (let e = 0; e < scene.edgeCount; e++) {
    count += Math.max(0, scene.edgeOffsets[e + 1] - scene.edgeOffsets[e] - 1);
  }
  const rows = new Float64Array(4 * count);
  const owner = new Int32Array(count);
  const p = scene.edgePoints;
  let row = 0;
  for (let e = 0; e < scene.edgeCount; e++) {
    for (
      let i = scene.edgeOffsets[e];
      i + 1 < scene.edgeOffsets[e + 1];
      i++, row++
    ) {
      owner[row] = e;
      rows[4 * row] = Math.min(p[2 * i], p[2 * i + 2]);
      rows[4 * row + 1] = Math.min(p[2 * i + 1], p[2 * i + 3]);
      rows[4 * row + 2] = Math.max(p[2 * i], p[2 * i + 2]);
      rows[4 * row + 3] = Math.max(p[2 * i + 1], p[2 * i + 3]);
    }
  }
  return { rows, owner };
}

/** Distance from a point to the curve that starts at point i. */
function curveDistance(scene: IScene, i: number, x: number, y: number): number {
  let best = Infinity;
  someChord(scene, i, (ax, ay, bx, by) => {
    best = Math.min(best, pointToChord(x, y, ax, ay, bx, by));
    return false;
  });
  return best;
}

function pointToChord(
  x: number,
  y: number,
  ax: number,
  ay: number,
  bx: number,
  by: number
): number {
  const dx = bx - ax;
  const dy = by - ay;
  const length = dx * dx + dy * dy;
  const t =
    length === 0
      ? 0
      : Math.min(1, Math.max(0, ((x - ax) * dx + (y - ay) * dy) / length));
  return Math.hypot(x - ax - t * dx, y - ay - t * dy);
}
