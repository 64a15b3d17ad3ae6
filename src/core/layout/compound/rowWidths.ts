/** Widths of open groups for a given width of the whole graph. */

import type { IRowWidth } from '../../types';
import { widthAround } from './panelGeometry';
import type { IPlacedLevel } from './levelTypes';
import type { IGroupTree } from '../../tree/treeTypes';

export interface IRowWidthQuery {
  readonly tree: IGroupTree;
  isOpen(group: number): boolean;
  /** The single-row layouts. */
  straight(group: number): IPlacedLevel | undefined;
}

/**
 * Minimum share of the width for a group, so that nested groups which leave space next to them do not end
 * as narrow columns.
 */
const MIN_WIDTH_SHARE = 0.6;

/**
 * Widths of the groups to lay out in rows, root (-1) first and parents before children. Groups that fit
 * stay in one row with all their contents. An open group that does not fit leaves space for its
 * neighbours if they need at most `beside` of the width; otherwise it gets rows of its own.
 */
export function rowWidthsFor(
  { tree, isOpen, straight }: IRowWidthQuery,
  { room, beside }: IRowWidth
): Map<number, number> {
  const widths = new Map<number, number>();
  const { nodeCount } = tree.model;
  const open: [number, number][] = [[-1, room]];
  for (let next = open.pop(); next; next = open.pop()) {
    const [group, width] = next;
    const placed = straight(group);
    if (!placed || placed.along <= width) {
      continue;
    }
    widths.set(group, width);
    const around = widthAround(placed.level);
    const content = width - around;
    for (const entity of placed.level.children) {
      const child = entity - nodeCount;
      const inner = child >= 0 && isOpen(child) ? straight(child) : undefined;
      if (inner && inner.along > content) {
        const othersLength = placed.along - around - inner.along;
        const left = content - othersLength;
        const isBeside =
          othersLength <= beside * content && left >= MIN_WIDTH_SHARE * room;
        open.push([child, isBeside ? left : content]);
      }
    }
  }
  return widths;
}
