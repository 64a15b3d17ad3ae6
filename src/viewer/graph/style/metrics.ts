/** Dimensions shared by several modules, in world units. */

import { PANEL } from '../../../core/layout/compound/layoutMetrics';

export const CARD_HEADER_H = 24;
/** Height of the title bar of an open group. */
export const TITLE_BAR = PANEL.title;
export const RADIUS = 4;
export const CARD_PAD_X = 9;
export const CARD_LINE_H = 16;
export const BODY_PAD = 6;
export const SHARE_BAR = 4;
export const CHEVRON_W = 16;
/** Width of a stepper arrow in the title of a repeat, including its click area. */
export const STEPPER_ARROW_W = 18;
export const MAX_CARD = 236;
/** Wide enough for the class and the instance of a group on one line. */
export const MAX_GROUP = 290;
/** Maximum width of compact cards. */
export const COMPACT_CARD = 128;
export const MIN_CARD = 92;

/** Font sizes. */
export const TITLE_SIZE = 12.5;
export const BODY_SIZE = 11;
export const LABEL_SIZE = 9.5;
export const PILL_SIZE = 11.5;

export const FONT_FALLBACK =
  'system-ui, -apple-system, BlinkMacSystemFont, "Segoe UI", Helvetica, Arial, sans-serif';
