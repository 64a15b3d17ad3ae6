/** Free space for labels: what boxes, panels, wires and other labels leave. */
import { BoxKind, type IScene } from '../../../core/types';
import { intersects, type IPoint, type IRect } from '../geometry/camera';
import { someChord, returnArrowheads } from '../geometry/wirePath';
import { type SpatialIndex, within } from '../scene/spatialIndex';
import { TITLE_BAR } from '../style/metrics';

/** A label on a wire. */
export interface IWireLabel {
  /** The centre. */
  readonly x: number;
  /** The baseline. */
  readonly y: number;
  readonly text: string;
  /** The rectangle it covers. */
  readonly rect: IRect;
}

/** Gap between a label and a box: half of the box's border, plus rounding. */
const LABEL_CLEARANCE = 1;
/** Size of the second outline behind a collapsed group. */
const OUTLINE_OFFSET = 4;
/** Gap between two labels on a line. */
const LABEL_SPACING = 4;
/** Cell size of the label grid. */
const CELL = 256;

/** Start and end along a band. */
type Span = readonly [number, number];

/** Calls `each` for the rectangles of boxes touching `r` in which no label may be placed. */
function blockedRects(
  scene: IScene,
  index: SpatialIndex,
  r: IRect,
  origin: IPoint,
  each: (rect: IRect) => void
): void {
  const searchArea = {
    x: r.x - OUTLINE_OFFSET - LABEL_CLEARANCE,
    y: r.y - OUTLINE_OFFSET - LABEL_CLEARANCE,
    w: r.w + OUTLINE_OFFSET + 2 * LABEL_CLEARANCE,
    h: r.h + OUTLINE_OFFSET + 2 * LABEL_CLEARANCE
  };
  for (const b of index.boxesIn(searchArea)) {
    const [x, y] = [
      scene.boxX[b] - LABEL_CLEARANCE,
      scene.boxY[b] - LABEL_CLEARANCE
    ];
    const w = scene.boxW[b] + 2 * LABEL_CLEARANCE;
    const h = scene.boxH[b] + 2 * LABEL_CLEARANCE;
    const kind = scene.boxKind[b];
    const more = kind === BoxKind.Group ? OUTLINE_OFFSET : 0;
    const around =
      origin.x >= x && origin.x <= x + w && origin.y >= y && origin.y <= y + h;
    if (kind !== BoxKind.OpenGroup || !around) {
      each({ x, y, w: w + more, h: h + more });
      continue;
    }
    // A panel that the wire runs in: its background is free, its title and border are not.
    each({ x, y, w, h: TITLE_BAR + LABEL_CLEARANCE });
    each({ x, y, w: 2 * LABEL_CLEARANCE, h });
    each({ x: x + w - 2 * LABEL_CLEARANCE, y, w: 2 * LABEL_CLEARANCE, h });
    each({ x, y: y + h - 2 * LABEL_CLEARANCE, w, h: 2 * LABEL_CLEARANCE });
  }
}

export class LabelSpace {
  private readonly _cells = new Map<string, IWireLabel[]>();

  constructor(
    private readonly _scene: IScene,
    private readonly _index: SpatialIndex
  ) {}

  /** Reserves the space of a label. */
  reserve(label: IWireLabel): void {
    for (const key of cellsOf(label.rect)) {
      const cell = this._cells.get(key);
      if (cell) {
        cell.push(label);
      } else {
        this._cells.set(key, [label]);
      }
    }
  }

  /** The labels that touch a rectangle. */
  labelsIn(r: IRect): IWireLabel[] {
    const labels = new Set<IWireLabel>();
    for (const key of cellsOf(r)) {
      for (const label of this._cells.get(key) ?? []) {
        if (intersects(label.rect, r)) {
          labels.add(label);
        }
      }
    }
    return [...labels];
  }

  /** True if a label of the wire at `origin` may cover the rectangle. */
  isFree(r: IRect, origin: IPoint): boolean {
    const { width: w, height: h } = this._scene;
    const inside = r.x >= 0 && r.y >= 0 && r.x + r.w <= w && r.y + r.h <= h;
    return inside && this.taken(r, r, origin, false).length === 0;
  }

  /**
   * Occupied spans along a band: by boxes and labels in `r`, by wires in `wires`. `upright` means a
   * vertical band.
   */
  taken(r: IRect, wires: IRect, origin: IPoint, upright: boolean): Span[] {
    const spans: Span[] = [];
    const block = (rect: IRect): void => {
      if (intersects(rect, r)) {
        spans.push(
          upright ? [rect.y, rect.y + rect.h] : [rect.x, rect.x + rect.w]
        );
      }
    };
    blockedRects(this._scene, this._index, r, origin, block);
    // Two adjacent labels must not read as one.
    const spaced = { ...r, x: r.x - LABEL_SPACING, w: r.w + 2 * LABEL_SPACING };
    for (const { rect } of this.labelsIn(spaced)) {
      block({
        ...rect,
        x: rect.x - LABEL_SPACING,
        w: rect.w + 2 * LABEL_SPACING
      });
    }
    this._wiresIn(wires, upright, spans);
    return spans;
  }

  private _wiresIn(r: IRect, upright: boolean, spans: Span[]): void {
    const { _scene: scene } = this;
    const line = (ax: number, ay: number, bx: number, by: number): boolean => {
      const span = within(ax, ay, bx, by, r);
      if (span) {
        const [a, d] = upright ? [ay, by - ay] : [ax, bx - ax];
        const ends = span.map(t => a + d * t);
        spans.push([Math.min(...ends), Math.max(...ends)]);
      }
      return false;
    };
    for (const e of this._index.edgesIn(r)) {
      const end = scene.edgeOffsets[e + 1];
      for (let i = scene.edgeOffsets[e]; i + 1 < end; i++) {
        someChord(scene, i, line);
      }
      const heads = scene.inRows ? returnArrowheads(scene, e) : [];
      for (let i = 0; i < heads.length; i += 6) {
        const [ax, ay, bx, by, cx, cy] = heads.slice(i, i + 6);
        line(ax, ay, bx, by);
        line(bx, by, cx, cy);
      }
    }
  }
}

function cellsOf(r: IRect): string[] {
  const keys: string[] = [];
  const cell = (v: number): number => Math.floor(v / CELL);
  for (let y = cell(r.y); y <= cell(r.y + r.h); y++) {
    for (let x = cell(r.x); x <= cell(r.x + r.w); x++) {
      keys.push(`${x},${y}`);
    }
  }
  return keys;
}

/**
 * The position closest to `prefer`, between `low` and `high`, at which an interval of `length` centred
 * there overlaps no span; null if there is none.
 */
export function nearestGap(
  spans: readonly Span[],
  length: number,
  prefer: number,
  low: number,
  high: number
): number | null {
  if (low > high) {
    return null;
  }
  const half = length / 2;
  const meets = (center: number): boolean =>
    spans.some(([from, to]) => center + half > from && center - half < to);
  const first = Math.min(high, Math.max(low, prefer));
  if (!meets(first)) {
    return first;
  }
  let best: number | null = null;
  const away = (center: number): number => Math.abs(center - prefer);
  for (const [from, to] of spans) {
    for (const center of [from - half, to + half]) {
      const nearer = best === null || away(center) < away(best);
      if (center >= low && center <= high && nearer && !meets(center)) {
        best = center;
      }
    }
  }
  return best;
}
