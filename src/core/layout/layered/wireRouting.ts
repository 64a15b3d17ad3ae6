/** Positions of columns, and the points of every wire. */

import { EDGE } from './cycleRemoval';
import { extent } from './coordinateAssignment';
import type { IProperGraph } from './properGraph';
import type {
  ILayoutInput,
  ILayoutOptions,
  ILayoutResult
} from './layoutTypes';

/** Distance of the first lane from the graph, and between lanes. */
const LANE_START = 22;
const LANE_GAP = 10;

/** Left edge and width of every column. */
interface IColumnPlaces {
  readonly left: Float64Array;
  readonly width: Float64Array;
  readonly total: number;
}

function placeColumns(
  input: ILayoutInput,
  graph: IProperGraph,
  { rankGap, portGap, portWidth }: ILayoutOptions
): IColumnPlaces {
  const width = new Float64Array(graph.rankCount);
  for (let v = 0; v < input.itemCount; v++) {
    width[graph.rank[v]] = Math.max(width[graph.rank[v]], input.width[v]);
  }
  const left = new Float64Array(graph.rankCount);
  const slim = (r: number): boolean => width[r] <= portWidth;
  let x = 0;
  for (let r = 0; r < graph.rankCount; r++) {
    if (r > 0) {
      x += slim(r - 1) || slim(r) ? portGap : rankGap;
    }
    left[r] = x;
    x += width[r];
  }
  return { left, width, total: x };
}

/** A growing list of points; a point on the line between its neighbours is dropped. */
class PointList {
  /** Starts the next edge. */
  begin(): void {
    this._first = this._values.length;
  }

  add(x: number, y: number): void {
    const values = this._values;
    const n = values.length;
    if (n - this._first >= 4) {
      const level = values[n - 1] === y && values[n - 3] === y;
      const upright = values[n - 2] === x && values[n - 4] === x;
      if (level || upright) {
        values[n - 2] = x;
        values[n - 1] = y;
        return;
      }
    }
    if (n > this._first && values[n - 2] === x && values[n - 1] === y) {
      return;
    }
    values.push(x, y);
  }

  get count(): number {
    return this._values.length / 2;
  }

  toArray(): Float64Array {
    return Float64Array.from(this._values);
  }

  private _values: number[] = [];
  private _first = 0;
}

/** Lanes above (back edges) or below (long edges): one per source and trunk. */
class Lanes {
  /** Number of the lane. */
  of(source: number, trunk: number): number {
    const key = `${source}:${trunk}`;
    let lane = this._ids.get(key);
    if (lane === undefined) {
      lane = this._ids.size;
      this._ids.set(key, lane);
    }
    return lane;
  }

  private _ids = new Map<string, number>();
}

class Router {
  constructor(
    input: ILayoutInput,
    graph: IProperGraph,
    y: Float64Array,
    columns: IColumnPlaces,
    rankGap: number
  ) {
    this._input = input;
    this._graph = graph;
    this._y = y;
    this._columns = columns;
    this._rankGap = rankGap;
    this._extent = extent(y, graph.height);
    this._hasTarget = new Uint8Array(input.itemCount);
    this._hasSource = new Uint8Array(input.itemCount);
    for (let e = 0; e < input.source.length; e++) {
      this._hasTarget[input.source[e]] = 1;
      this._hasSource[input.target[e]] = 1;
    }
  }

  /** Point where edge e leaves its source. */
  private _start(e: number): [number, number] {
    const v = this._input.source[e];
    const x = this._centre(v) + this._input.width[v] / 2;
    return [x, this._y[v] + this._input.sourceOffset[e]];
  }

  private _end(e: number): [number, number] {
    const v = this._input.target[e];
    const x = this._centre(v) - this._input.width[v] / 2;
    return [x, this._y[v] + this._input.targetOffset[e]];
  }

  /** Ends of paths lie next to their neighbours, all other items in the middle of the column. */
  private _centre(v: number): number {
    const r = this._graph.rank[v];
    const left = this._columns.left[r];
    const width = this._columns.width[r];
    const isSource = this._hasTarget[v] === 1 && this._hasSource[v] === 0;
    const isSink = this._hasSource[v] === 1 && this._hasTarget[v] === 0;
    if (isSource) {
      return left + width - this._input.width[v] / 2;
    }
    return isSink ? left + this._input.width[v] / 2 : left + width / 2;
  }

  /** Routes a wire through the columns, along the trunk's dummy nodes. */
  through(e: number, points: PointList): void {
    const { left, width } = this._columns;
    const { rank } = this._graph;
    const from = rank[this._input.source[e]];
    const to = rank[this._input.target[e]];
    const [x0, y0] = this._start(e);
    const [x1, y1] = this._end(e);
    points.add(x0, y0);
    points.add(left[from] + width[from], y0);
    for (let r = from + 1; r < to; r++) {
      const y = this._y[this._graph.firstDummy[e] + r - from - 1];
      points.add(left[r], y);
      points.add(left[r] + width[r], y);
    }
    points.add(left[to], y1);
    points.add(x1, y1);
  }

  /** Routes a wire out of the columns, along a lane and back; vertical pieces run between columns. */
  alongLane(e: number, above: boolean, points: PointList): void {
    const { left, width } = this._columns;
    const { rank } = this._graph;
    const lanes = above ? this._above : this._below;
    const lane = lanes.of(this._input.source[e], this._input.trunk[e]);
    const distance = LANE_START + lane * LANE_GAP;
    const y = above
      ? this._extent.top - distance
      : this._extent.bottom + distance;
    // Vertical pieces of different lanes run side by side.
    const inset = this._rankGap * (0.2 + 0.06 * (lane % 5));
    const from = rank[this._input.source[e]];
    const to = rank[this._input.target[e]];
    const [x0, y0] = this._start(e);
    const [x1, y1] = this._end(e);
    const startX = left[from] + width[from] + inset;
    const endX = left[to] - inset;
    points.add(x0, y0);
    points.add(startX, y0);
    points.add(startX, y);
    points.add(endX, y);
    points.add(endX, y1);
    points.add(x1, y1);
  }

  centres(): Float64Array {
    return Float64Array.from({ length: this._input.itemCount }, (_, v) =>
      this._centre(v)
    );
  }

  private readonly _input: ILayoutInput;
  private readonly _graph: IProperGraph;
  private readonly _y: Float64Array;
  private readonly _columns: IColumnPlaces;
  private readonly _rankGap: number;
  private readonly _extent: { top: number; bottom: number };
  /** Whether any edge leaves the item, and whether any enters it. */
  private readonly _hasTarget: Uint8Array;
  private readonly _hasSource: Uint8Array;
  private readonly _above = new Lanes();
  private readonly _below = new Lanes();
}

/** Moves everything so that the top left corner is at 0, 0. */
function normalise(
  input: ILayoutInput,
  x: Float64Array,
  y: Float64Array,
  points: Float64Array
) {
  let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
  const include = (x0: number, y0: number, x1: number, y1: number) => {
    left = Math.min(left, x0);
    right = Math.max(right, x1);
    top = Math.min(top, y0);
    bottom = Math.max(bottom, y1);
  };
  for (let v = 0; v < input.itemCount; v++) {
    const [w, h] = [input.width[v] / 2, input.height[v] / 2];
    include(x[v] - w, y[v] - h, x[v] + w, y[v] + h);
  }
  for (let i = 0; i < points.length; i += 2) {
    include(points[i], points[i + 1], points[i], points[i + 1]);
  }
  if (input.itemCount === 0) {
    return { width: 0, height: 0 };
  }
  for (let v = 0; v < input.itemCount; v++) {
    x[v] -= left;
    y[v] -= top;
  }
  for (let i = 0; i < points.length; i += 2) {
    points[i] -= left;
    points[i + 1] -= top;
  }
  return { width: right - left, height: bottom - top };
}

/** Positions and wires from columns and heights. */
export function route(
  input: ILayoutInput,
  edgeClass: Uint8Array,
  graph: IProperGraph,
  heights: Float64Array,
  options: ILayoutOptions
): Omit<ILayoutResult, 'rank' | 'crossings'> {
  const columns = placeColumns(input, graph, options);
  const router = new Router(input, graph, heights, columns, options.rankGap);
  const points = new PointList();
  const pointOffsets = new Int32Array(edgeClass.length + 1);
  for (let e = 0; e < edgeClass.length; e++) {
    points.begin();
    if (edgeClass[e] === EDGE.normal) {
      router.through(e, points);
    } else if (edgeClass[e] !== EDGE.loop) {
      router.alongLane(e, edgeClass[e] === EDGE.back, points);
    }
    pointOffsets[e + 1] = points.count;
  }
  const x = router.centres();
  const y = heights.slice(0, input.itemCount);
  const wires = points.toArray();
  const size = normalise(input, x, y, wires);
  return { x, y, ...size, pointOffsets, points: wires };
}
