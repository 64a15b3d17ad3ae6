/** Level of detail, by zoom. */

export const enum Lod {
  /** Canvas; boxes of a few pixels are aggregated. */
  Aggregated = 0,
  /** Canvas; plain boxes and wires, titles of groups. */
  Overview = 1,
  /** Elements; a card is flat coloured, with a title as large as fits. */
  Compact = 2,
  /** Elements; full cards with weights and costs. */
  Full = 3
}

const AGGREGATED_BELOW = 0.06;
/** Highest zoom that is drawn on the canvas; above it, elements are used. */
export const CANVAS_MAX_ZOOM = 0.3;
const FULL_FROM = 0.8;
/** Lowest zoom at which wires have shape labels. */
export const LABELS_FROM = 0.6;

export function lodOf(k: number): Lod {
  if (k < AGGREGATED_BELOW) {
    return Lod.Aggregated;
  }
  if (k <= CANVAS_MAX_ZOOM) {
    return Lod.Overview;
  }
  return k < FULL_FROM ? Lod.Compact : Lod.Full;
}

/**
 * Elements drawn with the same key look the same, so zooming within a key redraws nothing. Keys of
 * compact cards differ in title size.
 */
export function detailKey(k: number): number {
  const lod = lodOf(k);
  if (lod !== Lod.Compact) {
    return lod === Lod.Full ? 100 : 0;
  }
  return k < 0.42 ? 1 : k < LABELS_FROM ? 2 : 3;
}

/** Title size of a compact card in world units: about 11 screen pixels in the middle of its key. */
export function compactTitleSize(k: number): number {
  return [0, 31, 22, 16][detailKey(k)] ?? 12.5;
}
