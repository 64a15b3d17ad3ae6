/**
 * What the layered layout takes and gives. Typed arrays only, so that a worker can carry them.
 *
 * All is said for a picture that flows from left to right. One from top to bottom is the same turned:
 * sizes are swapped on the way in, positions on the way out.
 */

/** Items that must stand in the first or the last column. */
export const PIN = { none: 0, first: -1, last: 1 } as const;

/** A left-to-right graph to lay out. Sizes and offsets in px. */
export interface ILayoutInput {
  readonly itemCount: number;
  readonly width: Float64Array;
  readonly height: Float64Array;
  /** One of `PIN`, by item. */
  readonly pin: Int8Array;
  /** How much an item matters: the path of the largest sum is kept straight. */
  readonly importance: Float64Array;
  readonly source: Int32Array;
  readonly target: Int32Array;
  /** Where an edge leaves or enters, as a distance below the item's centre. */
  readonly sourceOffset: Float64Array;
  readonly targetOffset: Float64Array;
  /** Edges of one source with the same trunk (a tensor) share one wire as far as they can. */
  readonly trunk: Int32Array;
}

export interface ILayoutOptions {
  /** Gap between items of a column. */
  readonly itemGap: number;
  /** Gap between columns. */
  readonly rankGap: number;
  /** Gap beside a column of nothing wider than `portWidth`: what stands on a panel's border. */
  readonly portGap: number;
  readonly portWidth: number;
  /** Gap between wires. */
  readonly wireGap: number;
  /** Longer edges, in columns, run in a lane below the picture. */
  readonly maxSpan: number;
  /** Sweeps of crossing reduction for each start. */
  readonly sweeps: number;
  /** Whether the main path may leave lower than it entered: it goes through rows. */
  readonly falls?: boolean;
}

export const LAYOUT_OPTIONS: ILayoutOptions = {
  itemGap: 20,
  rankGap: 44,
  portGap: 44,
  portWidth: 0,
  wireGap: 12,
  maxSpan: 48,
  sweeps: 8
};

/** Positions; the top left of everything drawn, wires included, is at 0, 0. */
export interface ILayoutResult {
  /** Centres of the items. */
  readonly x: Float64Array;
  readonly y: Float64Array;
  readonly width: number;
  readonly height: number;
  /** Column of each item. */
  readonly rank: Int32Array;
  /**
   * Points of edge e: `points[2*pointOffsets[e] … 2*pointOffsets[e+1])`, from source to target.
   * Left to right, except for an edge that closes a cycle: it runs back in a lane above.
   */
  readonly pointOffsets: Int32Array;
  readonly points: Float64Array;
  /** Crossings left between neighbouring columns. */
  readonly crossings: number;
}
