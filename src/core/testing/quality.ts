/**
 * Quality of a layout: crossings and length of its wires. The same code measures our layout and those of
 * other libraries, from the routes they draw.
 */

import { segmentHitsBox } from './geometry';

/** A graph to lay out: sizes of the items, and wires by their ends. */
export interface IPlainGraph {
  readonly width: readonly number[];
  readonly height: readonly number[];
  readonly source: readonly number[];
  readonly target: readonly number[];
  /** The tensor of each wire. */
  readonly trunk: readonly number[];
}

/** Route of each wire as `x0, y0, x1, y1, …` from its source to its target. */
export type Routes = readonly (readonly number[])[];

/** Layout of a graph by some engine. */
export interface IDrawnGraph {
  /** Centres of the items. */
  readonly x: ArrayLike<number>;
  readonly y: ArrayLike<number>;
  readonly routes: Routes;
}

export interface IQuality {
  /**
   * Crossings of wires without a common end (overlapping wires of a tensor count once), plus unrelated
   * items that a wire passes through: a wire hidden behind a card would otherwise not count.
   */
  readonly crossings: number;
  /**
   * Sum over all wires of the distances along and across, from the middle of the source's right side
   * through the route's bends to the middle of the target's left side. So it does not depend on whether
   * an engine draws corners, slopes or curves, or where on an item's border it ends a wire.
   */
  readonly length: number;
}

/** A straight piece of a wire: `x0, y0, x1, y1`, `x0 <= x1`. */
interface IWirePiece {
  readonly edge: number;
  readonly ends: readonly number[];
}

/** The pieces of all routes, sorted by their left ends. */
function piecesOf(routes: Routes): IWirePiece[] {
  const segments: IWirePiece[] = [];
  routes.forEach((route, edge) => {
    for (let i = 0; i + 3 < route.length; i += 2) {
      const [x0, y0, x1, y1] = route.slice(i, i + 4);
      if (x0 !== x1 || y0 !== y1) {
        const ends = x0 <= x1 ? [x0, y0, x1, y1] : [x1, y1, x0, y0];
        segments.push({ edge, ends });
      }
    }
  });
  return segments.sort((a, b) => a.ends[0] - b.ends[0]);
}

/** Side of the line through a piece on which the point lies. */
function sideOf({ ends }: IWirePiece, x: number, y: number): number {
  const [x0, y0, x1, y1] = ends;
  return Math.sign((x1 - x0) * (y - y0) - (y1 - y0) * (x - x0));
}

/** Where the pieces cross, to a tenth of a pixel; null if they do not. */
function crossing(a: IWirePiece, b: IWirePiece): string | null {
  const areDisjoint = (p: IWirePiece, [x0, y0, x1, y1]: readonly number[]) =>
    sideOf(p, x0, y0) * sideOf(p, x1, y1) < 0;
  if (!areDisjoint(a, b.ends) || !areDisjoint(b, a.ends)) {
    return null;
  }
  const [ax, ay, bx, by] = a.ends;
  const [cx, cy, dx, dy] = b.ends;
  const run = (bx - ax) * (dy - cy) - (by - ay) * (dx - cx);
  const t = ((cx - ax) * (dy - cy) - (cy - ay) * (dx - cx)) / run;
  return `${(ax + t * (bx - ax)).toFixed(1)} ${(ay + t * (by - ay)).toFixed(1)}`;
}

/** True if the wires have no common end. */
function strangers({ source, target }: IPlainGraph, e: number, f: number) {
  return (
    source[e] !== source[f] &&
    target[e] !== target[f] &&
    source[e] !== target[f] &&
    target[e] !== source[f]
  );
}

function countCrossings(graph: IPlainGraph, routes: Routes): number {
  const crossings = new Set<string>();
  const tensor = (e: number) => `${graph.source[e]}:${graph.trunk[e]}`;
  let active: IWirePiece[] = [];
  for (const segment of piecesOf(routes)) {
    active = active.filter(({ ends }) => ends[2] >= segment.ends[0]);
    for (const other of active) {
      const [e, f] = [segment.edge, other.edge];
      const point = strangers(graph, e, f) ? crossing(segment, other) : null;
      if (point) {
        crossings.add(`${[tensor(e), tensor(f)].sort().join(' ')} ${point}`);
      }
    }
    active.push(segment);
  }
  return crossings.size;
}

function lengthOf(
  graph: IPlainGraph,
  { x, y }: IDrawnGraph,
  route: readonly number[],
  e: number
) {
  const { source, target, width } = graph;
  const [s, t] = [source[e], target[e]];
  const through = [
    x[s] + width[s] / 2,
    y[s],
    ...route.slice(2, -2),
    x[t] - width[t] / 2,
    y[t]
  ];
  let length = 0;
  for (let i = 0; i + 3 < through.length; i += 2) {
    length +=
      Math.abs(through[i + 2] - through[i]) +
      Math.abs(through[i + 3] - through[i + 1]);
  }
  return length;
}

/** Width of the strips used to look up items. */
const STRIP = 256;

/** Number of pairs of a wire and an unrelated item that it passes through. */
function countThrough(
  graph: IPlainGraph,
  { x, y, routes }: IDrawnGraph
): number {
  const { width, height, source, target } = graph;
  const strips = new Map<number, number[]>();
  const strip = (y: number) => Math.floor(y / STRIP);
  width.forEach((w, v) => {
    for (let s = strip(x[v] - w / 2); s <= strip(x[v] + w / 2); s++) {
      strips.set(s, [...(strips.get(s) ?? []), v]);
    }
  });
  const hits = new Set<string>();
  for (const { edge, ends } of piecesOf(routes)) {
    const [x0, y0, x1, y1] = ends;
    for (let s = strip(x0); s <= strip(x1); s++) {
      for (const v of strips.get(s) ?? []) {
        const [w, h] = [width[v] / 2 - 0.5, height[v] / 2 - 0.5];
        const foreign = v !== source[edge] && v !== target[edge];
        if (
          foreign &&
          segmentHitsBox(
            [x0, y0, x1, y1],
            [x[v] - w, y[v] - h, x[v] + w, y[v] + h]
          )
        ) {
          hits.add(`${edge} ${v}`);
        }
      }
    }
  }
  return hits.size;
}

/** Measures a layout; quadratic in overlapping wires. */
export function qualityOf(graph: IPlainGraph, layout: IDrawnGraph): IQuality {
  const { routes } = layout;
  return {
    crossings: countCrossings(graph, routes) + countThrough(graph, layout),
    length: routes.reduce(
      (sum, route, e) => sum + lengthOf(graph, layout, route, e),
      0
    )
  };
}
