/** Screen reader announcement after a block was expanded or collapsed. */
import { BoxKind } from '../../../core/types';
import type { ISurfaceStrings } from '../surfaceApi';
import { chipsOn } from '../draw/drawChips';
import { entityAt } from '../scene/entityBoxes';
import type { IDrawContext } from '../draw/drawTarget';
import { boxDescription } from './accessibleNames';

/** The block's name and state; null if there is no block or it has no box of its own. */
export function groupAnnouncement(
  drawing: IDrawContext | null,
  entity: number | undefined,
  strings: ISurfaceStrings
): string | null {
  if (!drawing || entity === undefined) {
    return null;
  }
  const { scene, model } = drawing;
  const box = scene.boxOf(entity);
  // A chip is announced with its card.
  const isThere =
    entityAt(scene, box) === entity ||
    (box >= 0 && chipsOn(drawing, box).includes(entity - model.nodeCount));
  if (!isThere) {
    return null;
  }
  const open = drawing.scene.boxKind[box] === BoxKind.OpenGroup;
  const state = open ? strings.expanded : strings.collapsed;
  return `${boxDescription(drawing, box, strings)}, ${state}`;
}
