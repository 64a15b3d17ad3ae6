/** Maps between entities and the boxes of a scene. */
import { BoxKind, type IScene } from '../../../core/types';
import {
  unionRect,
  boxRect,
  type IPoint,
  type IRect,
  type IViewSize
} from '../geometry/camera';

/** The box of the entity itself, not of a group that hides it; -1 if there is none. */
export function ownBox(scene: IScene, entity: number): number {
  const box = scene.boxOf(entity);
  return box >= 0 && entityAt(scene, box) === entity ? box : -1;
}

/** The node or group of a box; null for pills, ports and -1. */
export function entityAt(scene: IScene, box: number): number | null {
  return box >= 0 && scene.boxKind[box] <= BoxKind.OpenGroup
    ? scene.boxEntity[box]
    : null;
}

/** True for a model input or output, or a pill of several. */
export function isPill(scene: IScene, box: number): boolean {
  const kind: BoxKind | -1 = box < 0 ? -1 : scene.boxKind[box];
  return kind === BoxKind.Input || kind === BoxKind.Output;
}

/** The card closest to a point; null if there are none. */
export function nearestEntity(scene: IScene, point: IPoint): number | null {
  let best = -1;
  let least = Infinity;
  for (let b = 0; b < scene.boxCount; b++) {
    if (scene.boxKind[b] <= BoxKind.Group) {
      const dx = scene.boxX[b] + scene.boxW[b] / 2 - point.x;
      const dy = scene.boxY[b] + scene.boxH[b] / 2 - point.y;
      if (dx * dx + dy * dy < least) {
        least = dx * dx + dy * dy;
        best = b;
      }
    }
  }
  return entityAt(scene, best);
}

/** Position across the flow at which the main line begins: the middle of the first boxes. */
export function mainLineOffset(
  scene: IScene,
  view: IViewSize
): number | undefined {
  const down = scene.direction === 'down';
  const reach = down ? view.h : view.w;
  const [along, across, length] = down
    ? [scene.boxY, scene.boxX, scene.boxW]
    : [scene.boxX, scene.boxY, scene.boxH];
  const middles: number[] = [];
  for (let b = 0; b < scene.boxCount; b++) {
    if (scene.boxKind[b] <= BoxKind.Group && along[b] < reach) {
      middles.push(across[b] + length[b] / 2);
    }
  }
  middles.sort((a, b) => a - b);
  return middles[middles.length >> 1];
}

/** Boxes that show or contain the entities, each once. */
export function visibleBoxes(
  scene: IScene,
  entities: readonly number[]
): number[] {
  return [...new Set(entities.map(e => scene.boxOf(e)))].filter(b => b >= 0);
}

/** Bounding rectangle of the boxes that show or contain the entities; null if there are none. */
export function boundsOf(
  scene: IScene,
  entities: readonly number[]
): IRect | null {
  const boxes = visibleBoxes(scene, entities);
  return boxes.length > 0
    ? unionRect(boxes.map(box => boxRect(scene, box)))
    : null;
}
