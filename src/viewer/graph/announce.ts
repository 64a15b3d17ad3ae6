/** What a screen reader is told after a block opened or closed. */
import { BoxKind } from '../../core/types';
import type { ISurfaceStrings } from './api';
import { chipsOn } from './chips';
import { entityAt } from './entities';
import type { IDrawing } from './primitives';
import { boxName } from './names';

/** The block's name and state; null when there is none or it has no box of its own. */
export function groupState(
  drawing: IDrawing | null,
  entity: number | undefined,
  strings: ISurfaceStrings
): string | null {
  if (!drawing || entity === undefined) {
    return null;
  }
  const { scene, model } = drawing;
  const box = scene.boxOf(entity);
  // A chip says what its card says.
  const isThere =
    entityAt(scene, box) === entity ||
    (box >= 0 && chipsOn(drawing, box).includes(entity - model.nodeCount));
  if (!isThere) {
    return null;
  }
  const open = drawing.scene.boxKind[box] === BoxKind.OpenGroup;
  const state = open ? strings.expanded : strings.collapsed;
  return `${boxName(drawing, box, strings)}, ${state}`;
}
