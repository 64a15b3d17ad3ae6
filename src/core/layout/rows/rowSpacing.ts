/** Distances of a picture in rows, px. */

/** Between wires that return side by side: a shape has room between them. */
export const TRACK = 14;
/** Between those that turn down within a row, in the gap between two columns. */
export const DROP = 8;
/** From a row's last card to the first of them, and from the last of them to the next row's first card. */
export const TURN = 20;
/** Between a row and what returns below it, and between that and the next row. */
export const GUTTER = 18;
/** Between rows where nothing returns. */
export const MIN_GUTTER = 40;
/** From a column to a wire that closes a cycle. */
export const TURN_BACK = 14;
/** Between wires that run back above a row, and from the row to the first of them. */
export const LANE = 10;
export const FIRST_LANE = 12;
/** Between the middles of ports of a border, at least. */
export const PORT_STEP = 16;
/** Between pills of a border. */
export const PORT_AIR = 8;
/** From the last card to a port on the right border. */
export const PORT_GAP = 40;
/** What the sides of a row take: with ports on the border, with wires only. */
export const PORTS_SIDE = 48;
export const OUT_SIDE = 20;
