/**
 * Heights of all vertices: Brandes and Köpf, "Fast and simple horizontal coordinate assignment" (GD
 * 2001), rotated by 90 degrees and extended by ports (the vertices of a block are offset so that its wire
 * is straight) and by the spine, which is one block in all four alignments.
 */

import { indexBy } from '../../base/csr';
import { blockedSteps } from './alignmentConflicts';
import type { IOrder } from './crossingCounter';
import type { IProperGraph, IAdjacency } from './properGraph';
import { findSpine } from './spine';
import type { ISpine } from './spine';
import { PIN } from './layoutTypes';
import type { ILayoutOptions } from './layoutTypes';

/** One alignment: `fromLeft` aligns with the column before, `upper` prefers upper neighbours. */
interface IDirection {
  readonly fromLeft: boolean;
  readonly upper: boolean;
}

/** Vertices aligned into blocks; `shift` is a vertex's height relative to the reference of its block. */
interface IBlocks {
  readonly root: Int32Array;
  readonly shift: Float64Array;
}

interface IAlignmentContext {
  readonly graph: IProperGraph;
  readonly order: IOrder;
  readonly spine: ISpine;
  readonly blocked: Uint8Array;
  readonly options: ILayoutOptions;
}

/** Adjacency entries of v in order of their far ends, topmost first. */
function entriesByPlace(
  adjacency: IAdjacency,
  position: Int32Array,
  v: number
): number[] {
  const entries: number[] = [];
  for (let k = adjacency.offsets[v]; k < adjacency.offsets[v + 1]; k++) {
    entries.push(k);
  }
  if (entries.length > 1) {
    entries.sort(
      (a, b) =>
        position[adjacency.vertex[a]] - position[adjacency.vertex[b]] ||
        adjacency.farOffset[a] - adjacency.farOffset[b]
    );
  }
  return entries;
}

/** The entries that v may be aligned with: the spine's step, or the one or two medians. */
function candidates(
  context: IAlignmentContext,
  direction: IDirection,
  v: number
): number[] {
  const adjacency = direction.fromLeft ? context.graph.in : context.graph.out;
  const spineStep = direction.fromLeft
    ? context.spine.stepIn[v]
    : context.spine.stepOut[v];
  if (spineStep >= 0) {
    for (let k = adjacency.offsets[v]; k < adjacency.offsets[v + 1]; k++) {
      if (adjacency.step[k] === spineStep) {
        return [k];
      }
    }
  }
  const entries = entriesByPlace(adjacency, context.order.position, v);
  if (entries.length === 0) {
    return [];
  }
  const low = entries[(entries.length - 1) >> 1];
  const high = entries[entries.length >> 1];
  return direction.upper ? [low, high] : [high, low];
}

/** Builds chains of vertices that should lie on one straight wire. */
function align(context: IAlignmentContext, direction: IDirection): IBlocks {
  const { graph, order, blocked } = context;
  const { vertices, columns, position } = order;
  const adjacency = direction.fromLeft ? graph.in : graph.out;
  const root = Int32Array.from({ length: graph.vertexCount }, (_, v) => v);
  const aligned = new Uint8Array(graph.vertexCount);
  const shift = new Float64Array(graph.vertexCount);
  for (let i = 1; i < graph.rankCount; i++) {
    const r = direction.fromLeft ? i : graph.rankCount - 1 - i;
    const size = columns[r + 1] - columns[r];
    let limit = direction.upper ? -1 : Infinity;
    for (let j = 0; j < size; j++) {
      const v = vertices[columns[r] + (direction.upper ? j : size - 1 - j)];
      for (const k of candidates(context, direction, v)) {
        const u = adjacency.vertex[k];
        const free = direction.upper
          ? position[u] > limit
          : position[u] < limit;
        if (free && !aligned[u] && !blocked[adjacency.step[k]]) {
          aligned[u] = 1;
          root[v] = root[u];
          shift[v] = shift[u] + adjacency.farOffset[k] - adjacency.ownOffset[k];
          limit = position[u];
          break;
        }
      }
    }
  }
  return { root, shift };
}

/** Minimum distance between the centres of neighbours in a column. */
function separation(context: IAlignmentContext, a: number, b: number): number {
  const { graph, options } = context;
  const gap = (v: number) =>
    v < graph.itemCount ? options.itemGap : options.wireGap;
  return (graph.height[a] + graph.height[b] + gap(a) + gap(b)) / 2;
}

/** Neighbour constraints between blocks, in the direction of compaction. */
function constraints(
  context: IAlignmentContext,
  blocks: IBlocks,
  upper: boolean
): { from: Int32Array; to: Int32Array; distance: Float64Array } {
  const { graph, order } = context;
  const count = graph.vertexCount;
  const from = new Int32Array(count);
  const to = new Int32Array(count);
  const distance = new Float64Array(count);
  const sign = upper ? 1 : -1;
  let filled = 0;
  for (let r = 0; r < graph.rankCount; r++) {
    for (let i = order.columns[r] + 1; i < order.columns[r + 1]; i++) {
      const above = order.vertices[i - 1];
      const below = order.vertices[i];
      const [a, b] = upper ? [above, below] : [below, above];
      from[filled] = blocks.root[a];
      to[filled] = blocks.root[b];
      const between = sign * (blocks.shift[a] - blocks.shift[b]);
      distance[filled++] = separation(context, above, below) + between;
    }
  }
  return {
    from: from.subarray(0, filled),
    to: to.subarray(0, filled),
    distance
  };
}

/** Packs the blocks as tightly as their order allows, then closes gaps from the other side. */
function compact(
  context: IAlignmentContext,
  blocks: IBlocks,
  upper: boolean
): Float64Array {
  const { vertexCount } = context.graph;
  const { from, to, distance } = constraints(context, blocks, upper);
  const rows = indexBy(vertexCount, from);
  const pending = new Int32Array(vertexCount);
  for (const b of to) {
    pending[b]++;
  }
  const position = new Float64Array(vertexCount);
  const order = new Int32Array(vertexCount);
  let tail = 0;
  for (let v = 0; v < vertexCount; v++) {
    if (blocks.root[v] === v && pending[v] === 0) {
      order[tail++] = v;
    }
  }
  for (let head = 0; head < tail; head++) {
    const a = order[head];
    for (let k = rows.offsets[a]; k < rows.offsets[a + 1]; k++) {
      const c = rows.values[k];
      const b = to[c];
      position[b] = Math.max(position[b], position[a] + distance[c]);
      if (--pending[b] === 0) {
        order[tail++] = b;
      }
    }
  }
  for (let i = tail - 1; i >= 0; i--) {
    const a = order[i];
    let least = Infinity;
    for (let k = rows.offsets[a]; k < rows.offsets[a + 1]; k++) {
      const c = rows.values[k];
      least = Math.min(least, position[to[c]] - distance[c]);
    }
    if (least < Infinity && least > position[a]) {
      position[a] = least;
    }
  }
  const sign = upper ? 1 : -1;
  const y = new Float64Array(vertexCount);
  for (let v = 0; v < vertexCount; v++) {
    y[v] = sign * position[blocks.root[v]] + blocks.shift[v];
  }
  return y;
}

/** Top and bottom of the vertices. */
export function extent(
  y: Float64Array,
  height: Float64Array
): { top: number; bottom: number } {
  let top = Infinity;
  let bottom = -Infinity;
  for (let v = 0; v < y.length; v++) {
    top = Math.min(top, y[v] - height[v] / 2);
    bottom = Math.max(bottom, y[v] + height[v] / 2);
  }
  return y.length > 0 ? { top, bottom } : { top: 0, bottom: 0 };
}

/** Aligns the four results with the flattest one and takes the mean of the two medians. */
function combine(
  results: { y: Float64Array; upper: boolean }[],
  height: Float64Array
): Float64Array {
  const extents = results.map(({ y }) => extent(y, height));
  const flattest = extents.reduce((best, e) =>
    e.bottom - e.top < best.bottom - best.top ? e : best
  );
  const shifts = results.map(({ upper }, i) =>
    upper ? flattest.top - extents[i].top : flattest.bottom - extents[i].bottom
  );
  const result = new Float64Array(height.length);
  for (let v = 0; v < result.length; v++) {
    const [a, b, c, d] = results.map(({ y }, i) => y[v] + shifts[i]);
    const least = Math.min(a, b, c, d);
    const maximum = Math.max(a, b, c, d);
    result[v] = (a + b + c + d - least - maximum) / 2;
  }
  return result;
}

/**
 * Makes the spine enter and leave at the same height if both its ends are pinned (ports of a group): the
 * last column moves, and its wires bend. Otherwise a chain of equal blocks would form a staircase.
 */
function alignSpineEnds(
  { graph, order, spine }: IAlignmentContext,
  pin: Int8Array,
  y: Float64Array
): void {
  let [first, last] = [-1, -1];
  for (let v = 0; v < graph.itemCount; v++) {
    if (pin[v] === PIN.first && spine.stepOut[v] >= 0) {
      first = v;
    } else if (pin[v] === PIN.last && spine.stepIn[v] >= 0) {
      last = v;
    }
  }
  if (first < 0 || last < 0) {
    return;
  }
  const drift = y[last] - y[first];
  const { vertices, columns } = order;
  for (let i = columns[graph.rankCount - 1]; i < vertices.length; i++) {
    y[vertices[i]] -= drift;
  }
}

/** Heights (centres) of all vertices, with the required distance between neighbours in a column. */
export function assignHeights(
  graph: IProperGraph,
  order: IOrder,
  pin: Int8Array,
  options: ILayoutOptions
): Float64Array {
  const spine = findSpine(graph, order);
  const blocked = blockedSteps(graph, order, spine);
  const context = { graph, order, spine, blocked, options };
  const results = [];
  for (const fromLeft of [true, false]) {
    for (const upper of [true, false]) {
      const blocks = align(context, { fromLeft, upper });
      results.push({ y: compact(context, blocks, upper), upper });
    }
  }
  const y = combine(results, graph.height);
  if (!options.falls) {
    alignSpineEnds(context, pin, y);
  }
  return y;
}
