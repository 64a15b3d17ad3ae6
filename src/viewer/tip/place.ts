/** Where a tip stands: beside its box, inside the pane. */

import type { IPoint, IRect, ISize } from '../graph/camera';

/** Screen pixels between the tip and the box, and the edge of the pane. */
const GAP = 6;

/**
 * Below the box, or above, right or left of it; null where no side has room. `box` is in pixels of the pane,
 * of which only what is in view counts.
 */
export function placeOf(box: IRect, tip: ISize, pane: ISize): IPoint | null {
  const left = Math.max(0, box.x);
  const top = Math.max(0, box.y);
  const right = Math.min(pane.w, box.x + box.w);
  const bottom = Math.min(pane.h, box.y + box.h);
  const within = (at: number, size: number, room: number): number =>
    Math.max(GAP, Math.min(at, room - size - GAP));
  const x = within(left, tip.w, pane.w);
  const y = within(top, tip.h, pane.h);
  const wide = tip.w + 2 * GAP <= pane.w;
  const high = tip.h + 2 * GAP <= pane.h;
  if (wide && bottom + tip.h + 2 * GAP <= pane.h) {
    return { x, y: bottom + GAP };
  }
  if (wide && top - tip.h - 2 * GAP >= 0) {
    return { x, y: top - GAP - tip.h };
  }
  if (high && right + tip.w + 2 * GAP <= pane.w) {
    return { x: right + GAP, y };
  }
  if (high && left - tip.w - 2 * GAP >= 0) {
    return { x: left - GAP - tip.w, y };
  }
  return null;
}
