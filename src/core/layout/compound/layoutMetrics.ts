/** Sizes of what a level adds around the cards, in px. */

export const PANEL = {
  /** Height of an open group's title bar, for either direction of the flow. */
  title: 32,
  /** Inner margin at the bottom and at sides without ports. */
  padding: 16,
  /** Side length of a port. */
  port: 8
} as const;

/** Minimum width of a title next to wires that enter its panel from above. */
export const MIN_TITLE_BESIDE_WIRES = 220;
/** From the end of a title to the centre of the first port. */
export const TITLE_GAP = 8;

/** Maximum width of pills and connectors; the renderer truncates longer names. */
export const PILL_MAX = 180;
export const STUB_MAX = 110;

/** Minimum number of readers for a far-reaching tensor to be drawn with named connectors. */
export const STUB_FANOUT = 8;
/** Minimum number of columns to its farthest reader for a tensor to be far-reaching. */
export const STUB_REACH = 6;
/** Minimum number of columns for any wire to be replaced by a connector. */
export const STUB_SPAN = 32;
