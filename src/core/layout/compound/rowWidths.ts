/** How wide each open group may be for the whole picture to be so wide. */

import type { IRowWidth } from '../../types';
import { widthAround } from './panelGeometry';
import type { IPlacedLevel } from './levelTypes';
import type { IGroupTree } from '../../tree/treeTypes';

export interface IRowWidthQuery {
  readonly tree: IGroupTree;
  isOpen(group: number): boolean;
  /** The layouts in one row each. */
  straight(group: number): IPlacedLevel | undefined;
}

/** Groups inside groups that all leave room beside them would end as narrow columns. */
const NARROW = 0.6;

/**
 * Widths of the groups that are set in rows, root (-1) first, every group after the one it lies in. What
 * fits stays in one row, and all in it. An open group that does not fit leaves room for what stands
 * beside it where that is at most `beside` of the width; else it has rows of its own.
 */
export function rowWidthsFor(
  { tree, isOpen, straight }: IRowWidthQuery,
  { room, beside }: IRowWidth
): Map<number, number> {
  const rooms = new Map<number, number>();
  const { nodeCount } = tree.model;
  const open: [number, number][] = [[-1, room]];
  for (let next = open.pop(); next; next = open.pop()) {
    const [group, width] = next;
    const placed = straight(group);
    if (!placed || placed.along <= width) {
      continue;
    }
    rooms.set(group, width);
    const around = widthAround(placed.level);
    const content = width - around;
    for (const entity of placed.level.children) {
      const child = entity - nodeCount;
      const inner = child >= 0 && isOpen(child) ? straight(child) : undefined;
      if (inner && inner.along > content) {
        const others = placed.along - around - inner.along;
        const left = content - others;
        const isBeside = others <= beside * content && left >= NARROW * room;
        open.push([child, isBeside ? left : content]);
      }
    }
  }
  return rooms;
}
