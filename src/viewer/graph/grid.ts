/**
 * Uniform grid over the boxes and wires of a scene, for culling and hit testing.
 * Built once a scene in linear time; queries allocate nothing but their answer.
 */
import { BoxKind, type IScene } from '../../core/types';
import type { IRect } from './camera';
import { chords } from './edges';
import { TITLE_BAR } from './metrics';

const CELL = 400;
/** What covers more cells than this is looked at in every query instead of being filed. */
const LARGE = 64;

class CellIndex {
  private readonly columns: number;
  private readonly rows: number;
  private readonly cell: number;
  private readonly start: Int32Array;
  private readonly items: Int32Array;
  private readonly large: number[] = [];
  private readonly stamp: Int32Array;
  private round = 0;

  /** `rects` holds x0, y0, x1, y1 a row; row i belongs to `owner(i)`. */
  constructor(
    rects: Float64Array,
    private readonly owner: Int32Array | null,
    owners: number,
    width: number,
    height: number
  ) {
    const count = rects.length / 4;
    const wanted = Math.sqrt(
      (Math.max(1, width) * Math.max(1, height)) / (4 * count + 1024)
    );
    this.cell = Math.max(CELL, wanted);
    this.columns = Math.max(1, Math.ceil(width / this.cell));
    this.rows = Math.max(1, Math.ceil(height / this.cell));
    this.stamp = new Int32Array(owners);
    this.start = new Int32Array(this.columns * this.rows + 1);
    this.visit(rects, true, cell => void this.start[cell + 1]++);
    for (let i = 1; i < this.start.length; i++) {
      this.start[i] += this.start[i - 1];
    }
    this.items = new Int32Array(this.start[this.start.length - 1]);
    const next = this.start.slice();
    this.visit(
      rects,
      false,
      (cell, row) => void (this.items[next[cell]++] = row)
    );
  }

  /** Calls back once for every owner that may touch the rectangle. */
  query(r: IRect, found: (owner: number) => void): void {
    const round = ++this.round;
    const take = (row: number): void => {
      const owner = this.owner ? this.owner[row] : row;
      if (this.stamp[owner] !== round) {
        this.stamp[owner] = round;
        found(owner);
      }
    };
    const c0 = this.column(r.x);
    const c1 = this.column(r.x + r.w);
    const r0 = this.row(r.y);
    const r1 = this.row(r.y + r.h);
    for (let y = r0; y <= r1; y++) {
      // The cells of a row lie side by side, and so do their items.
      const from = this.start[y * this.columns + c0];
      const to = this.start[y * this.columns + c1 + 1];
      for (let i = from; i < to; i++) {
        take(this.items[i]);
      }
    }
    this.large.forEach(take);
  }

  /** An upper bound of what `query` would find, without looking at each. */
  count(r: IRect): number {
    const c0 = this.column(r.x);
    const c1 = this.column(r.x + r.w);
    let count = this.large.length;
    for (let y = this.row(r.y); y <= this.row(r.y + r.h); y++) {
      count +=
        this.start[y * this.columns + c1 + 1] -
        this.start[y * this.columns + c0];
    }
    return count;
  }

  private column(x: number): number {
    return Math.min(this.columns - 1, Math.max(0, Math.floor(x / this.cell)));
  }

  private row(y: number): number {
    return Math.min(this.rows - 1, Math.max(0, Math.floor(y / this.cell)));
  }

  private visit(
    rects: Float64Array,
    collectLarge: boolean,
    each: (cell: number, row: number) => void
  ): void {
    for (let i = 0, n = rects.length / 4; i < n; i++) {
      const c0 = this.column(rects[4 * i]);
      const r0 = this.row(rects[4 * i + 1]);
      const c1 = this.column(rects[4 * i + 2]);
      const r1 = this.row(rects[4 * i + 3]);
      if ((c1 - c0 + 1) * (r1 - r0 + 1) > LARGE) {
        if (collectLarge) {
          this.large.push(i);
        }
        continue;
      }
      for (let y = r0; y <= r1; y++) {
        for (let x = c0; x <= c1; x++) {
          each(y * this.columns + x, i);
        }
      }
    }
  }
}

export class SceneIndex {
  private readonly boxes: CellIndex;
  private readonly edges: CellIndex;

  constructor(private readonly scene: IScene) {
    const n = scene.boxCount;
    const rects = new Float64Array(4 * n);
    for (let b = 0; b < n; b++) {
      rects[4 * b] = scene.boxX[b];
      rects[4 * b + 1] = scene.boxY[b];
      rects[4 * b + 2] = scene.boxX[b] + scene.boxW[b];
      rects[4 * b + 3] = scene.boxY[b] + scene.boxH[b];
    }
    this.boxes = new CellIndex(rects, null, n, scene.width, scene.height);
    const { rows, owner } = segmentRects(scene);
    this.edges = new CellIndex(
      rows,
      owner,
      scene.edgeCount,
      scene.width,
      scene.height
    );
  }

  /** Boxes that touch the rectangle, in no order. */
  boxesIn(r: IRect): number[] {
    const s = this.scene;
    const out: number[] = [];
    this.boxes.query(r, b => {
      if (
        s.boxX[b] <= r.x + r.w &&
        s.boxX[b] + s.boxW[b] >= r.x &&
        s.boxY[b] <= r.y + r.h &&
        s.boxY[b] + s.boxH[b] >= r.y
      ) {
        out.push(b);
      }
    });
    return out;
  }

  /** About how many boxes touch the rectangle, quickly; never too few. */
  countBoxes(r: IRect): number {
    return this.boxes.count(r);
  }

  /** Edges with a piece in a cell that the rectangle touches, in no order. */
  edgesIn(r: IRect): number[] {
    const out: number[] = [];
    this.edges.query(r, e => void out.push(e));
    return out;
  }

  /**
   * The innermost box at a world point, -1 = none. Of an open group only the title bar counts: its
   * ground is ground.
   */
  pick(x: number, y: number, tolerance = 0): number {
    const s = this.scene;
    let best = -1;
    const r = {
      x: x - tolerance,
      y: y - tolerance,
      w: 2 * tolerance,
      h: 2 * tolerance
    };
    this.boxes.query(r, b => {
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

  /** The closest wire within `tolerance` world units of a point, -1 = none. */
  pickEdge(x: number, y: number, tolerance: number): number {
    const s = this.scene;
    const r = {
      x: x - tolerance,
      y: y - tolerance,
      w: 2 * tolerance,
      h: 2 * tolerance
    };
    let best = -1;
    let nearest = tolerance;
    this.edges.query(r, e => {
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

/** The part of a line that runs in a rectangle, from 0 to 1 of its way; null = none. */
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

/** Whether a wire runs through a rectangle. */
export function crosses(scene: IScene, edge: number, r: IRect): boolean {
  const end = scene.edgeOffsets[edge + 1];
  for (let i = scene.edgeOffsets[edge]; i + 1 < end; i++) {
    if (chords(scene, i, (...line) => within(...line, r) !== null)) {
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
  chords(scene, i, (ax, ay, bx, by) => {
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
