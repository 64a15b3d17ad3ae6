/** What stands on wires and how bold they are: the one place for the screen and for exports. */
import { BoxKind, type IScene } from '../../core/types';
import type { IRect } from './camera';
import { chords, edgeWidth, labelSpot } from './edges';
import type { SceneIndex } from './grid';
import { detailKey } from './lod';
import { LABEL_SIZE } from './metrics';
import type { IDrawing } from './primitives';
import { clip } from './text';

export interface IWireLabel {
  /** The middle. */
  readonly x: number;
  /** The baseline. */
  readonly y: number;
  readonly text: string;
}

/** One edge a wire: the one with the widest place for a label. */
export function labelledEdges(scene: IScene): ReadonlySet<number> {
  const best = new Map<string, number>();
  const room = new Map<string, number>();
  for (let e = 0; e < scene.edgeCount; e++) {
    const key = `${scene.edgeSource[e]}/${scene.edgeTensor[e]}`;
    const here = labelSpot(scene, e)?.room ?? 0;
    if (here > (room.get(key) ?? -1)) {
      room.set(key, here);
      best.set(key, e);
    }
  }
  return new Set(best.values());
}

/** Whether a box, a panel's border, or another wire lies in the rectangle. */
function covered(scene: IScene, index: SceneIndex, r: IRect): boolean {
  const inside = (ax: number, ay: number, bx: number, by: number): boolean =>
    Math.min(ax, bx) < r.x + r.w &&
    Math.max(ax, bx) > r.x &&
    Math.min(ay, by) < r.y + r.h &&
    Math.max(ay, by) > r.y;
  const meets = (b: number): boolean =>
    scene.boxKind[b] !== BoxKind.OpenGroup ||
    scene.boxX[b] > r.x ||
    scene.boxY[b] > r.y ||
    scene.boxX[b] + scene.boxW[b] < r.x + r.w ||
    scene.boxY[b] + scene.boxH[b] < r.y + r.h;
  if (index.boxesIn(r).some(meets)) {
    return true;
  }
  return index.edgesIn(r).some(e => {
    for (let i = scene.edgeOffsets[e]; i + 1 < scene.edgeOffsets[e + 1]; i++) {
      if (chords(scene, i, inside)) {
        return true;
      }
    }
    return false;
  });
}

/** The shape at the wire, and how many tensors more it carries; null where it does not fit. */
export function wireLabel(
  { scene, model, measure }: IDrawing,
  index: SceneIndex,
  edge: number,
  labelled: ReadonlySet<number>
): IWireLabel | null {
  const tensor = scene.edgeTensor[edge];
  if (tensor < 0 || !labelled.has(edge)) {
    return null;
  }
  const spot = labelSpot(scene, edge);
  const weight = scene.edgeWeight[edge];
  const more = weight > 1 ? ` +${weight - 1}` : '';
  const text = clip(model.shapeText(tensor)) + more;
  if (!spot || !text) {
    return null;
  }
  const w = measure.width(text, LABEL_SIZE);
  if (spot.beside) {
    const { x, y } = spot;
    const rect = { x: x - 3, y: y - LABEL_SIZE, w: w + 5, h: LABEL_SIZE + 3 };
    return covered(scene, index, rect)
      ? null
      : { x: Math.round(x + w / 2), y: Math.round(y), text };
  }
  if (w > spot.room - 2) {
    return null;
  }
  return { x: Math.round(spot.x), y: Math.round(spot.y - 4), text };
}

/**
 * Stroke width at the zoom `k`, in world units. From afar wires are bolder than they are, or they
 * would fade; on the screen the style sheet does the same by `data-detail`.
 */
export function wireWidth(weight: number, k: number): number {
  return { 1: 2.8, 2: 2.1 }[detailKey(k)] ?? edgeWidth(weight);
}
