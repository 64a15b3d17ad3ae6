/**
 * Input and output of the layered layout. Only typed arrays, so that they can be sent to a worker.
 *
 * Everything is defined for a graph that flows from left to right. For one from top to bottom, sizes are
 * swapped in the input and positions in the output.
 */

/** Items that must be in the first or the last column. */
export const PIN = { none: 0, first: -1, last: 1 } as const;

/** A left-to-right graph to lay out. Sizes and offsets in px. */
export interface ILayoutInput {
  readonly itemCount: number;
  readonly width: Float64Array;
  readonly height: Float64Array;
  /** One of `PIN`, by item. */
  readonly pin: Int8Array;
  /** Importance of an item: the path with the largest sum is kept straight. */
  readonly importance: Float64Array;
  readonly source: Int32Array;
  readonly target: Int32Array;
  /** Position where an edge leaves or enters, as an offset downwards from the item's centre. */
  readonly sourceOffset: Float64Array;
  readonly targetOffset: Float64Array;
  /** Edges of one source with the same trunk (a tensor) share a wire as far as possible. */
  readonly trunk: Int32Array;
}

export interface ILayoutOptions {
  /** Gap between items of a column. */
  readonly itemGap: number;
  /** Gap between columns. */
  readonly rankGap: number;
  /** Gap next to a column whose items are at most `portWidth` wide, i.e. ports on a panel's border. */
  readonly portGap: number;
  readonly portWidth: number;
  /** Gap between wires. */
  readonly wireGap: number;
  /** Longer edges, in columns, run in a lane below the graph. */
  readonly maxSpan: number;
  /** Number of crossing-reduction sweeps for each initial order. */
  readonly sweeps: number;
  /** True if the main path may leave lower than it entered, because it runs through rows. */
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

/** Positions; the top left corner of everything drawn, wires included, is at 0, 0. */
export interface ILayoutResult {
  /** Centres of the items. */
  readonly x: Float64Array;
  readonly y: Float64Array;
  readonly width: number;
  readonly height: number;
  /** Column of each item. */
  readonly rank: Int32Array;
  /**
   * Points of edge e: `points[2*pointOffsets[e] … 2*pointOffsets[e+1])`, from source to target. They run
   * left to right, except that an edge which closes a cycle runs back in a lane above.
   */
  readonly pointOffsets: Int32Array;
  readonly points: Float64Array;
  /** Remaining crossings between adjacent columns. */
  readonly crossings: number;
}
