/** Where a tip stands: beside its box, inside the pane. */

import type { IPoint, IRect, ISize } from '../graph/camera';

/** Screen pixels between the tip and the box, and the edge of the pane. */
const GAP = 6;

/**
 * Below the box (`above`: above it, where there is room), else on the other side, right or left of it; null
 * where no side has room. `box` is in pixels of the pane, of which only what is in view counts.
 */
export function placeOf(
  box: IRect,
  tip: ISize,
  pane: ISize,
  above = false
): IPoint | null {
  const left = Math.max(0, box.x);
  const top = Math.max(0, box.y);
  const right = Math.min(pane.w, box.x + box.w);
  const bottom = Math.min(pane.h, box.y + box.h);
  if (right <= left || bottom <= top) {
    return null;
  }
  const within = (at: number, size: number, room: number): number =>
    Math.max(GAP, Math.min(at, room - size - GAP));
  const x = within(left, tip.w, pane.w);
  const y = within(top, tip.h, pane.h);
  const wide = tip.w + 2 * GAP <= pane.w;
  const high = tip.h + 2 * GAP <= pane.h;
  const overIt = { x, y: top - GAP - tip.h };
  const underIt = { x, y: bottom + GAP };
  const hasOver = wide && overIt.y - GAP >= 0;
  const hasUnder = wide && underIt.y + tip.h + GAP <= pane.h;
  if (hasOver && (above || !hasUnder)) {
    return overIt;
  }
  if (hasUnder) {
    return underIt;
  }
  if (high && right + tip.w + 2 * GAP <= pane.w) {
    return { x: right + GAP, y };
  }
  if (high && left - tip.w - 2 * GAP >= 0) {
    return { x: left - GAP - tip.w, y };
  }
  return null;
}
