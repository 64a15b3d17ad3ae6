/** Distances in a layout in rows, px. */

/** Between parallel returning wires; leaves space for a shape. */
export const TRACK = 14;
/** Between wires that turn down within a row, in the gap between two columns. */
export const DROP = 8;
/**
 * From a row's last card to the first returning wire, and from the last one to the next row's first card.
 */
export const TURN = 20;
/** Between a row and the wires returning below it, and between these and the next row. */
export const GUTTER = 18;
/** Between rows without returning wires. */
export const MIN_GUTTER = 40;
/** From a column to a wire that closes a cycle. */
export const TURN_BACK = 14;
/** Between wires that run back above a row, and from the row to the first of them. */
export const LANE = 10;
export const FIRST_LANE = 12;
/** Minimum distance between the centres of ports on a border. */
export const PORT_STEP = 16;
/** Between pills on a border. */
export const PILL_GAP = 8;
/** From the last card to a port on the right border. */
export const PORT_GAP = 40;
/** Width of a row's sides: with ports on the border, with wires only. */
export const PORTS_SIDE = 48;
export const OUT_SIDE = 20;
