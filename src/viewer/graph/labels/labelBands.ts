/** Bands along the pieces of a wire that its label may occupy: above and below, or at the sides. */
import type { IScene } from '../../../core/types';
import type { IPoint, IRect } from '../geometry/camera';
import { someChord, isAcross } from '../geometry/wirePath';

/** Above and below the baseline of a label. */
export const ASCENT = 7.6;
export const DESCENT = 2;
/**
 * Offsets of the baseline above a horizontal wire, and of the text below it; larger where boxes are low.
 */
const BASELINE_OFFSETS = [4, 11, 18];
const BELOW_GAP = 3;
/** Gap between a vertical wire and its label. */
const LABEL_GAP = 5;
export const LABEL_HEIGHT = ASCENT + DESCENT;
/** Distance of a label from the corners of a vertical piece. */
const CORNER = 2;

/** A band along a piece of a wire. */
export interface ILabelBand {
  readonly upright: boolean;
  /** Penalty compared with other bands. */
  readonly cost: number;
  /** A point of the wire there. */
  readonly origin: IPoint;
  /** Preferred position of a label's centre along the band. */
  readonly prefer: number;
  /** For horizontal bands. */
  readonly baseline: number;
  /** Range of positions for the centre of a label of this length. */
  range(length: number): readonly [number, number];
  /** Centre across a vertical band. */
  centerAcross(width: number): number;
  /**
   * For labels of this width: the rectangle that must be free of boxes, and the one that must be free of
   * wires.
   */
  strips(width: number): readonly [IRect, IRect];
}

/** A part of a wire that is (almost) horizontal or vertical. */
interface IRun {
  readonly from: number;
  readonly to: number;
  /** Its extent across. */
  readonly low: number;
  readonly high: number;
}

/** Positions along a run: within it, or, for a longer label, such that the whole run lies beside it. */
function range(
  { from, to }: IRun,
  length: number,
  inset: number
): readonly [number, number] {
  const end = inset + length / 2;
  return to - from > 2 * end
    ? [from + end, to - end]
    : [Math.min(from, to - end), Math.max(to, from + end)];
}

function levelBand(run: IRun, below: boolean, lift: number): ILabelBand {
  const { from, to, low, high } = run;
  const away = BASELINE_OFFSETS[lift];
  const baseline = below ? high + BELOW_GAP - 4 + away + ASCENT : low - away;
  const [top, bottom] = [baseline - ASCENT, baseline + DESCENT];
  return {
    upright: false,
    cost: (below ? 30 : 0) + 45 * lift - Math.min(120, to - from),
    origin: { x: (from + to) / 2, y: (low + high) / 2 },
    prefer: (from + to) / 2,
    baseline,
    range: length => range(run, length, 2),
    centerAcross: () => 0,
    strips: width => {
      const x = from - width;
      const w = to - from + 2 * width;
      // No other wire may be closer to the label than its own.
      const reach = away - 4 + 1.5;
      const [y0, y1] = below
        ? [high + 1.7, bottom + reach]
        : [top - reach, low - 1.7];
      return [
        { x, y: top - 0.5, w, h: bottom - top + 1 },
        { x, y: y0, w, h: y1 - y0 }
      ];
    }
  };
}

function uprightBand(run: IRun, left: boolean): ILabelBand {
  const { from, to, low, high } = run;
  const edge = left ? low - LABEL_GAP : high + LABEL_GAP;
  return {
    upright: true,
    cost: (left ? 30 : 20) - Math.min(60, to - from),
    origin: { x: (low + high) / 2, y: (from + to) / 2 },
    prefer: (from + to) / 2,
    baseline: 0,
    range: length => range(run, length, CORNER),
    centerAcross: width => (left ? edge - width / 2 : edge + width / 2),
    strips: width => {
      // The centre is rounded to a whole pixel.
      const x = (left ? edge - width : edge) - 0.5;
      const r = {
        x,
        y: from - LABEL_HEIGHT,
        w: width + 1,
        h: to - from + 2 * LABEL_HEIGHT
      };
      return [r, r];
    }
  };
}

/** All bands of an edge. */
export function bandsOf(scene: IScene, edge: number): ILabelBand[] {
  const p = scene.edgePoints;
  const down = scene.direction === 'down';
  const bands: ILabelBand[] = [];
  const level = (run: IRun, lifts = BASELINE_OFFSETS.length): void => {
    for (let lift = 0; lift < lifts; lift++) {
      bands.push(levelBand(run, false, lift), levelBand(run, true, lift));
    }
  };
  const upright = (run: IRun): void => {
    bands.push(uprightBand(run, false), uprightBand(run, true));
  };
  const end = scene.edgeOffsets[edge + 1];
  for (let i = scene.edgeOffsets[edge]; i + 1 < end; i++) {
    const [x0, y0, x1, y1] = p.subarray(2 * i, 2 * i + 4);
    const [a0, c0, a1, c1] = down ? [y0, x0, y1, x1] : [x0, y0, x1, y1];
    const [along, across] = down ? [upright, level] : [level, upright];
    const [from, to] = [Math.min(a0, a1), Math.max(a0, a1)];
    const [low, high] = [Math.min(c0, c1), Math.max(c0, c1)];
    if (isAcross(a1 - a0)) {
      across({ from: low, to: high, low: from, high: to });
    } else if (high - low < 6) {
      along({ from, to, low, high });
    } else {
      // A slanted piece leaves and arrives parallel to the flow; in between, its points count.
      const middle = (a0 + a1) / 2;
      const half = (a: number, b: number, y: number): void =>
        along({ from: Math.min(a, b), to: Math.max(a, b), low: y, high: y });
      half(a0, middle, c0);
      half(middle, a1, c1);
      someChord(scene, i, (ax, ay, bx, by) => {
        for (const [x, y] of [
          [(ax + bx) / 2, (ay + by) / 2],
          [bx, by]
        ]) {
          level({ from: x, to: x, low: y, high: y }, 1);
          upright({ from: y, to: y, low: x, high: x });
        }
        return false;
      });
    }
  }
  return bands;
}
