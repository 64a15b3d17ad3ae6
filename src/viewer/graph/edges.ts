/** Curves of wires: horizontal where they leave and enter, one trunk a tensor. */
import { BoxKind, type IScene } from '../../core/types';

const round = (v: number): number => Math.round(v * 10) / 10;

/**
 * SVG path of one edge. Every piece between two points is a cubic with horizontal handles at half
 * the way across, so pieces join smoothly; a piece that goes back (a cycle) swings out to both sides.
 */
export function edgePath(scene: IScene, edge: number): string {
  const p = scene.edgePoints;
  const from = scene.edgeOffsets[edge];
  const to = scene.edgeOffsets[edge + 1];
  if (to - from < 2) {
    return '';
  }
  let d = `M${round(p[2 * from])},${round(p[2 * from + 1])}`;
  for (let i = from; i + 1 < to; i++) {
    d += piece(p[2 * i], p[2 * i + 1], p[2 * i + 2], p[2 * i + 3]);
  }
  return d;
}

function piece(x0: number, y0: number, x1: number, y1: number): string {
  const end = `${round(x1)},${round(y1)}`;
  if (Math.abs(y1 - y0) < 0.05 && x1 >= x0) {
    return `H${round(x1)}`;
  }
  const reach = handle(x0, x1);
  return `C${round(x0 + reach)},${round(y0)} ${round(x1 - reach)},${round(y1)} ${end}`;
}

/** Length of the horizontal handles of a piece. */
export function handle(x0: number, x1: number): number {
  const dx = x1 - x0;
  return dx >= 0 ? dx / 2 : Math.min(120, 24 - dx / 2);
}

/** Where an edge leaves and enters a box, as x, y pairs. A port draws its own dot. */
export function portSpots(scene: IScene, edge: number): number[] {
  const p = scene.edgePoints;
  const a = scene.edgeOffsets[edge];
  const b = scene.edgeOffsets[edge + 1] - 1;
  const spot = (box: number, i: number): number[] =>
    b <= a || scene.boxKind[box] === BoxKind.Port
      ? []
      : [round(p[2 * i]), round(p[2 * i + 1])];
  return [
    ...spot(scene.edgeSource[edge], a),
    ...spot(scene.edgeTarget[edge], b)
  ];
}

/** Dots at those places: zero-length strokes with round caps. */
export function portPath(scene: IScene, edge: number): string {
  const spots = portSpots(scene, edge);
  let d = '';
  for (let i = 0; i < spots.length; i += 2) {
    d += `M${spots[i]},${spots[i + 1]}h0`;
  }
  return d;
}

/** Stroke width in world units: an edge that stands for several tensors is a little bolder. */
export function edgeWidth(weight: number): number {
  return 1.25 + Math.min(2, Math.log2(Math.max(1, weight)) * 0.55);
}

/** Share of a steep piece that is level enough to carry a label, where it falls and where it rises. */
const FALLING = 0.45;
const RISING = 0.3;

/** The place for a label above the wire: its middle, its baseline's wire, the room; null = none. */
export function labelSpot(
  scene: IScene,
  edge: number
): { x: number; y: number; room: number } | null {
  const p = scene.edgePoints;
  const from = scene.edgeOffsets[edge];
  let best: { x: number; y: number; room: number } | null = null;
  for (let i = from; i + 1 < scene.edgeOffsets[edge + 1]; i++) {
    const room = p[2 * i + 2] - p[2 * i];
    const dy = p[2 * i + 3] - p[2 * i + 1];
    const level = Math.abs(dy) < 6;
    const share = level ? 1 : dy > 0 ? FALLING : RISING;
    // An earlier piece is preferred: labels line up behind the boxes they come from.
    if (room * share > (best ? best.room + 12 : 0)) {
      const y =
        p[2 * i + 1] + (level ? Math.min(0, dy) : dy > 0 ? 0 : dy * 0.13);
      best = { x: p[2 * i] + (room * share) / 2, y, room: room * share };
    }
  }
  return best;
}
