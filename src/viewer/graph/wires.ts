/** What stands on wires and how bold they are: the one place for the screen and for exports. */
import type { IScene } from '../../core/types';
import { edgeWidth, labelSpot } from './edges';
import { detailKey } from './lod';
import { LABEL_SIZE } from './metrics';
import type { IDrawing } from './primitives';

export interface IWireLabel {
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

/** The shape above the wire, and how many tensors more it carries; null where it does not fit. */
export function wireLabel(
  { scene, model, measure }: IDrawing,
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
  const text = model.shapeText(tensor) + more;
  if (!spot || !text || measure.width(text, LABEL_SIZE) > spot.room - 2) {
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
