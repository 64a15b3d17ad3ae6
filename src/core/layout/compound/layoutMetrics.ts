/** Measures of the things a level adds around the cards, in px. */

export const PANEL = {
  /** Title bar on top of an open group, whichever way its contents flow. */
  title: 32,
  /** Inner margin below and at sides without ports. */
  padding: 16,
  /** Side of a port. */
  port: 8
} as const;

/** So much of a title at least stands beside the wires that enter its panel from above. */
export const TITLE_BESIDE = 220;
/** From a title's end to the middle of the first port. */
export const TITLE_GAP = 8;

/** Widest pill and stub; longer names are cut by the renderer. */
export const PILL_MAX = 180;
export const STUB_MAX = 110;

/** From so many readers on, a tensor that reaches far is drawn as named stubs. */
export const STUB_FANOUT = 8;
/** It reaches far when its farthest reader is so many columns away. */
export const STUB_REACH = 6;
/** A wire over so many columns becomes a stub whatever its tensor. */
export const STUB_SPAN = 32;
