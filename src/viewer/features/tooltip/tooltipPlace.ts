/** Places a tooltip next to its box, inside the pane. */

import type { IPoint, IRect, IViewSize } from '../../graph/geometry/camera';

/** Screen pixels between the tooltip and the box, and the edge of the pane. */
const TOOLTIP_GAP = 6;

/**
 * Below the box (above it with `above`, if there is space), else on the other side, right or left of it;
 * null if no side has space. `box` is in pixels of the pane; only its visible part counts.
 */
export function placeTooltip(
  box: IRect,
  tip: IViewSize,
  pane: IViewSize,
  above = false
): IPoint | null {
  const left = Math.max(0, box.x);
  const top = Math.max(0, box.y);
  const right = Math.min(pane.w, box.x + box.w);
  const bottom = Math.min(pane.h, box.y + box.h);
  if (right <= left || bottom <= top) {
    return null;
  }
  const within = (position: number, size: number, available: number): number =>
    Math.max(TOOLTIP_GAP, Math.min(position, available - size - TOOLTIP_GAP));
  const x = within(left, tip.w, pane.w);
  const y = within(top, tip.h, pane.h);
  const wide = tip.w + 2 * TOOLTIP_GAP <= pane.w;
  const high = tip.h + 2 * TOOLTIP_GAP <= pane.h;
  const overIt = { x, y: top - TOOLTIP_GAP - tip.h };
  const underIt = { x, y: bottom + TOOLTIP_GAP };
  const hasOver = wide && overIt.y - TOOLTIP_GAP >= 0;
  const hasUnder = wide && underIt.y + tip.h + TOOLTIP_GAP <= pane.h;
  if (hasOver && (above || !hasUnder)) {
    return overIt;
  }
  if (hasUnder) {
    return underIt;
  }
  if (high && right + tip.w + 2 * TOOLTIP_GAP <= pane.w) {
    return { x: right + TOOLTIP_GAP, y };
  }
  if (high && left - tip.w - 2 * TOOLTIP_GAP >= 0) {
    return { x: left - TOOLTIP_GAP - tip.w, y };
  }
  return null;
}
