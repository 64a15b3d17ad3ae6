/** Pictures in a pane: when all of one is in view, and when it can be read. */

import type { IPane } from '../types';

/** Screen pixels kept free around a picture that is in view as a whole. */
export const PADDING = 24;
/** Below this a card's title cannot be read; the first picture does not start lower. */
export const MIN_READABLE_ZOOM = 0.5;

/** From here on every title is large enough to be read at a glance, 11 px. */
export const COMFORTABLE_READING_ZOOM = 0.885;

/** The zoom at which all of a picture is in view, at most 1. */
export function fitZoom(
  { width, height }: { readonly width: number; readonly height: number },
  pane: IPane
): number {
  return Math.min(
    1,
    (pane.w - 2 * PADDING) / Math.max(1, width),
    (pane.h - 2 * PADDING) / Math.max(1, height)
  );
}

/** How long a picture may be, in world units, to be read in a pane of so many pixels without moving. */
export function readableLength(pixels: number): number {
  return (pixels - 2 * PADDING) / MIN_READABLE_ZOOM;
}
