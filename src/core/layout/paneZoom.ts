/** Zoom levels at which a graph fits its pane, and at which it is readable. */

import type { IPane } from '../types';

/** Margin in screen pixels around a graph that fits its pane. */
export const PADDING = 24;
/** Lowest zoom for the initial view; below it, card titles are unreadable. */
export const MIN_READABLE_ZOOM = 0.5;

/** Zoom at which every title, 11 px high, is comfortable to read. */
export const COMFORTABLE_READING_ZOOM = 0.885;

/** The zoom at which the whole graph fits the pane, at most 1. */
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

/** Longest graph, in world units, that is readable in this many pixels without panning. */
export function readableLength(pixels: number): number {
  return (pixels - 2 * PADDING) / MIN_READABLE_ZOOM;
}
