/** Paths of wires: parallel to the flow at both ends, one trunk per tensor. */
import { BoxKind, type IScene } from '../../../core/types';

const roundTenth = (v: number): number => Math.round(v * 10) / 10;

/**
 * SVG path of an edge. Every piece between two points is a cubic with control points along the flow at
 * half its length, so pieces join smoothly; a piece that runs back (in a cycle) swings out on both sides.
 */
export function edgePath(scene: IScene, edge: number): string {
  const p = scene.edgePoints;
  const from = scene.edgeOffsets[edge];
  const to = scene.edgeOffsets[edge + 1];
  if (to - from < 2) {
    return '';
  }
  const down = scene.direction === 'down';
  const draw = down ? pieceDown : cubic;
  const straight = (i: number): boolean => isStraight(p, i, from, to - 1, down);
  let d = `M${roundTenth(p[2 * from])},${roundTenth(p[2 * from + 1])}`;
  for (let i = from; i + 1 < to; i++) {
    if (!straight(i) || to - from === 2) {
      d += draw(p[2 * i], p[2 * i + 1], p[2 * i + 2], p[2 * i + 3]);
      continue;
    }
    const [x, y] = [p[2 * i + 2], p[2 * i + 3]];
    const isTurn = i + 2 < to && straight(i + 1) && isCorner(p, i + 1);
    const before = isTurn ? cornerCut(p, i + 1, i) : null;
    const after = isTurn ? cornerCut(p, i + 1, i + 2) : null;
    d +=
      before && after
        ? `L${before}Q${roundTenth(x)},${roundTenth(y)} ${after}`
        : `L${roundTenth(x)},${roundTenth(y)}`;
  }
  return d;
}

/** Minimum length of a backward piece to get an arrowhead. */
const MIN_MARKED_RETURN = 90;

/** Position of the arrowhead on the piece: next to the label in its middle. */
const ARROWHEAD_POSITION = 0.8;

/** Half the height of an arrowhead. */
const ARROWHEAD_HALF_HEIGHT = 4;

/**
 * Arrowheads on the long pieces of a wire that run against the flow, from one row back to the next: three
 * points each, as x, y pairs. `size` is half their height.
 */
export function returnArrowheads(
  scene: IScene,
  edge: number,
  size = ARROWHEAD_HALF_HEIGHT
): number[] {
  const p = scene.edgePoints;
  const down = scene.direction === 'down';
  const heads: number[] = [];
  for (
    let i = scene.edgeOffsets[edge];
    i + 1 < scene.edgeOffsets[edge + 1];
    i++
  ) {
    const [dx, dy] = [p[2 * i + 2] - p[2 * i], p[2 * i + 3] - p[2 * i + 1]];
    const [along, across] = down ? [dy, dx] : [dx, dy];
    const least = Math.max(MIN_MARKED_RETURN, 8 * size);
    if (along < -least && Math.abs(across) < 0.05) {
      const [x, y] = [
        p[2 * i] + dx * ARROWHEAD_POSITION,
        p[2 * i + 1] + dy * ARROWHEAD_POSITION
      ];
      const tip = size * 0.75;
      heads.push(
        ...(down
          ? [x - size, y + tip, x, y - tip, x + size, y + tip]
          : [x + tip, y - size, x - tip, y, x + tip, y + size])
      );
    }
  }
  return heads;
}

/** The arrowheads as a path. */
export function returnArrowheadPath(scene: IScene, edge: number): string {
  const heads = returnArrowheads(scene, edge).map(roundTenth);
  let d = '';
  for (let i = 0; i < heads.length; i += 6) {
    const [ax, ay, bx, by, cx, cy] = heads.slice(i, i + 6);
    d += `M${ax},${ay}L${bx},${by}L${cx},${cy}`;
  }
  return d;
}

/**
 * True if a piece is straight, across or along the flow. Backward pieces are straight only between pieces
 * across; otherwise they swing out.
 */
function isStraight(
  p: Float64Array,
  i: number,
  first: number,
  last: number,
  down: boolean
): boolean {
  const [dx, dy] = [p[2 * i + 2] - p[2 * i], p[2 * i + 3] - p[2 * i + 1]];
  const [along, across] = down ? [dy, dx] : [dx, dy];
  if (isAcross(along)) {
    return true;
  }
  const isOnly = i === first && i + 1 === last;
  return Math.abs(across) < 0.05 && !(along < 0 && isOnly);
}

function isCorner(p: Float64Array, i: number): boolean {
  const before = Math.abs(p[2 * i] - p[2 * i - 2]) < 0.05;
  const after = Math.abs(p[2 * i + 2] - p[2 * i]) < 0.05;
  return before !== after;
}

/** Radius of the corners of a wire in a lane. */
const CORNER = 10;

/** True if a piece with this extent along the flow runs straight across it. */
export function isAcross(along: number): boolean {
  return Math.abs(along) < 0.05;
}

/** Start of the rounded corner at a point, towards its neighbour; null if the two coincide. */
function cornerCut(
  p: Float64Array,
  index: number,
  next: number
): string | null {
  const [x, y] = [p[2 * index], p[2 * index + 1]];
  const [dx, dy] = [p[2 * next] - x, p[2 * next + 1] - y];
  const length = Math.hypot(dx, dy);
  if (length < 0.05) {
    return null;
  }
  const t = Math.min(CORNER, length / 2) / length;
  return `${roundTenth(x + dx * t)},${roundTenth(y + dy * t)}`;
}

function cubic(x0: number, y0: number, x1: number, y1: number): string {
  const end = `${roundTenth(x1)},${roundTenth(y1)}`;
  if (Math.abs(y1 - y0) < 0.05 && x1 >= x0) {
    return `H${roundTenth(x1)}`;
  }
  const reach = handleLength(x0, x1);
  return `C${roundTenth(x0 + reach)},${roundTenth(y0)} ${roundTenth(x1 - reach)},${roundTenth(y1)} ${end}`;
}

function pieceDown(x0: number, y0: number, x1: number, y1: number): string {
  const end = `${roundTenth(x1)},${roundTenth(y1)}`;
  if (Math.abs(x1 - x0) < 0.05 && y1 >= y0) {
    return `V${roundTenth(y1)}`;
  }
  const reach = handleLength(y0, y1);
  return `C${roundTenth(x0)},${roundTenth(y0 + reach)} ${roundTenth(x1)},${roundTenth(y1 - reach)} ${end}`;
}

/** Length of the control handles of a piece between two positions along the flow. */
export function handleLength(x0: number, x1: number): number {
  const dx = x1 - x0;
  return dx >= 0 ? dx / 2 : Math.min(120, 24 - dx / 2);
}

/** Points where an edge leaves and enters its boxes, as x, y pairs. Ports draw their own dots. */
export function portPoints(scene: IScene, edge: number): number[] {
  const p = scene.edgePoints;
  const a = scene.edgeOffsets[edge];
  const b = scene.edgeOffsets[edge + 1] - 1;
  const point = (box: number, i: number): number[] =>
    b <= a || scene.boxKind[box] === BoxKind.Port
      ? []
      : [roundTenth(p[2 * i]), roundTenth(p[2 * i + 1])];
  return [
    ...point(scene.edgeSource[edge], a),
    ...point(scene.edgeTarget[edge], b)
  ];
}

/** Dots at those points: zero-length strokes with round caps. */
export function portPath(scene: IScene, edge: number): string {
  const ports = portPoints(scene, edge);
  let d = '';
  for (let i = 0; i < ports.length; i += 2) {
    d += `M${ports[i]},${ports[i + 1]}h0`;
  }
  return d;
}

/** Stroke width in world units; an edge that stands for several tensors is slightly bolder. */
export function edgeWidth(weight: number): number {
  return 1.25 + Math.min(2, Math.log2(Math.max(1, weight)) * 0.55);
}

/** Share of a steep piece that is horizontal enough for a label, where it falls and where it rises. */
const FALLING = 0.45;
const RISING = 0.3;

/** Anchor for a label above the wire, or with `isBeside` to its right. */
export interface ILabelAnchor {
  /** Centre of a label above, left end of a label beside. */
  readonly x: number;
  /** The wire's y under a label above, the baseline of a label beside. */
  readonly y: number;
  /** Length of the wire there. */
  readonly length: number;
  readonly isBeside: boolean;
}

/** The best anchor on an edge; null if there is none. */
export function labelAnchor(scene: IScene, edge: number): ILabelAnchor | null {
  return scene.direction === 'down'
    ? anchorBeside(scene, edge)
    : anchorAbove(scene, edge);
}

/** Minimum height of a wire with a label beside it. */
const MIN_LABELLED_DROP = 24;
/** Gap between a wire and the label beside it. */
const LABEL_GAP = 6;

/** In the middle of a vertical piece, or at the end of a slanted one whose right side is free. */
function anchorBeside(scene: IScene, edge: number): ILabelAnchor | null {
  const p = scene.edgePoints;
  const from = scene.edgeOffsets[edge];
  let best: ILabelAnchor | null = null;
  for (let i = from; i + 1 < scene.edgeOffsets[edge + 1]; i++) {
    const drop = p[2 * i + 3] - p[2 * i + 1];
    const dx = p[2 * i + 2] - p[2 * i];
    const upright = Math.abs(dx) < 6;
    const length = upright ? drop : drop * FALLING;
    if (drop >= MIN_LABELLED_DROP && length > (best ? best.length + 12 : 0)) {
      const [top, bottom] = [p[2 * i + 1], p[2 * i + 3]];
      const y = upright
        ? (top + bottom) / 2 + 4
        : dx < 0
          ? top + 14
          : bottom - 7;
      const x = Math.max(p[2 * i], p[2 * i + 2]) + LABEL_GAP;
      best = { x, y, length, isBeside: true };
    }
  }
  return best;
}

function anchorAbove(scene: IScene, edge: number): ILabelAnchor | null {
  const p = scene.edgePoints;
  const from = scene.edgeOffsets[edge];
  let best: ILabelAnchor | null = null;
  for (let i = from; i + 1 < scene.edgeOffsets[edge + 1]; i++) {
    const length = p[2 * i + 2] - p[2 * i];
    const dy = p[2 * i + 3] - p[2 * i + 1];
    const level = Math.abs(dy) < 6;
    const share = level ? 1 : dy > 0 ? FALLING : RISING;
    // Earlier pieces are preferred, so that labels line up behind their source boxes.
    if (length * share > (best ? best.length + 12 : 0)) {
      const y =
        p[2 * i + 1] + (level ? Math.min(0, dy) : dy > 0 ? 0 : dy * 0.13);
      const x = p[2 * i] + (length * share) / 2;
      best = { x, y, length: length * share, isBeside: false };
    }
  }
  return best && best.length >= 70
    ? best
    : (anchorBack(p, from, scene.edgeOffsets[edge + 1]) ?? best);
}

/** Above the longest piece that runs back to the next row. */
function anchorBack(
  p: Float64Array,
  from: number,
  to: number
): ILabelAnchor | null {
  let best: ILabelAnchor | null = null;
  for (let i = from; i + 1 < to; i++) {
    const length = p[2 * i] - p[2 * i + 2] - 60;
    if (length > (best?.length ?? 40) && p[2 * i + 1] === p[2 * i + 3]) {
      const x = (p[2 * i] + p[2 * i + 2]) / 2;
      best = { x, y: p[2 * i + 1], length, isBeside: false };
    }
  }
  return best;
}

/** Number of chords that approximate a curve. */
const CHORDS = 8;

/**
 * Calls `each` with the chords of the piece that starts at point i until it returns true; returns whether
 * it did.
 */
export function someChord(
  scene: IScene,
  i: number,
  each: (ax: number, ay: number, bx: number, by: number) => boolean
): boolean {
  const p = scene.edgePoints;
  const [x0, y0] = [p[2 * i], p[2 * i + 1]];
  const [dx, dy] = [p[2 * i + 2] - x0, p[2 * i + 3] - y0];
  const down = scene.direction === 'down';
  const count = dx === 0 || dy === 0 ? 1 : CHORDS;
  let [ax, ay] = [x0, y0];
  for (let j = 1; j <= count; j++) {
    const t = j / count;
    const u = 1 - t;
    // Cubic with both control points at half the distance along the flow.
    const along = 1.5 * u * u * t + 1.5 * u * t * t + t * t * t;
    const across = 3 * u * t * t + t * t * t;
    const bx = x0 + dx * (down ? across : along);
    const by = y0 + dy * (down ? along : across);
    if (each(ax, ay, bx, by)) {
      return true;
    }
    [ax, ay] = [bx, by];
  }
  return false;
}
