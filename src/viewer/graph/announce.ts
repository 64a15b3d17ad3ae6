/** What a screen reader is told after a block opened or closed. */
import { BoxKind } from '../../core/types';
import type { ISurfaceStrings } from './api';
import { exactBox } from './entities';
import type { IDrawing } from './primitives';
import { boxName } from './names';

/** The block's name and state; null when there is none or it has no box of its own. */
export function groupState(
  drawing: IDrawing | null,
  entity: number | undefined,
  strings: ISurfaceStrings
): string | null {
  const box =
    drawing && entity !== undefined ? exactBox(drawing.scene, entity) : -1;
  if (box < 0 || !drawing) {
    return null;
  }
  const open = drawing.scene.boxKind[box] === BoxKind.OpenGroup;
  const state = open ? strings.expanded : strings.collapsed;
  return `${boxName(drawing, box, strings)}, ${state}`;
}
