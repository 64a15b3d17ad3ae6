/** Entities and the boxes that stand for them in one scene. */
import { BoxKind, type IScene } from '../../core/types';

/** The box of the entity itself, not of a group that hides it; -1 = none. */
export function exactBox(scene: IScene, entity: number): number {
  const box = scene.boxOf(entity);
  return box >= 0 && entityAt(scene, box) === entity ? box : -1;
}

/** The node or group of a box; null for pills, ports and no box. */
export function entityAt(scene: IScene, box: number): number | null {
  return box >= 0 && scene.boxKind[box] <= BoxKind.OpenGroup
    ? scene.boxEntity[box]
    : null;
}

/** Boxes that show the entities or hide them, each once. */
export function visibleBoxes(
  scene: IScene,
  entities: readonly number[]
): number[] {
  return [...new Set(entities.map(e => scene.boxOf(e)))].filter(b => b >= 0);
}
