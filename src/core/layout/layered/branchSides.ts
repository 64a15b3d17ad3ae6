/**
 * Distributes branches over the two sides of the spine: short ones next to it, long ones outside, each on
 * the side with fewer crossings and less distance. The spine then runs in the middle of parallel
 * branches, and a skip connection on the free side of the block that it skips.
 */

import type { IOrder } from './crossingCounter';
import type { IProperGraph, IAdjacency } from './properGraph';
import { findSpine } from './spine';

const MAX_PASSES = 6;
/** Maximum number of conflicting pairs for which sides are still compared. */
const MAX_CONFLICTS = 400_000;

/** A connected part of the graph next to the spine. */
interface IBranch {
  readonly first: number;
  readonly last: number;
  /** Its vertices, column by column, top to bottom. */
  readonly vertices: number[];
  /** True if it lies above the spine in the given order. */
  readonly above: boolean;
}

/** Branches already placed on one side of the spine. */
class SideProfile {
  constructor(columns: number) {
    this._height = new Float64Array(columns);
    this._cover = new Int32Array(columns);
  }

  /** Branches in order from the spine outwards. */
  readonly branches: number[] = [];

  /** Distance from the spine at which a branch would be placed. */
  distance({ first, last }: IBranch): number {
    let maximum = 0;
    for (let r = first; r <= last; r++) {
      maximum = Math.max(maximum, this._height[r]);
    }
    return maximum;
  }

  /** Number of branches that run from column r to the next. */
  cover(r: number): number {
    return this._cover[r];
  }

  add(id: number, branch: IBranch, thickness: Float64Array): void {
    const base = this.distance(branch);
    for (let r = branch.first; r <= branch.last; r++) {
      this._height[r] = base + thickness[r - branch.first];
      if (r < branch.last) {
        this._cover[r]++;
      }
    }
    this.branches.push(id);
  }

  private readonly _height: Float64Array;
  private readonly _cover: Int32Array;
}

/** Branch of each vertex; -1 on the spine. */
function labelBranches(graph: IProperGraph, onSpine: Uint8Array): Int32Array {
  const label = new Int32Array(graph.vertexCount).fill(-1);
  const stack: number[] = [];
  let parts = 0;
  const enter = (v: number) => {
    if (label[v] < 0 && !onSpine[v]) {
      label[v] = parts;
      stack.push(v);
    }
  };
  const visit = ({ offsets, vertex }: IAdjacency, v: number) => {
    for (let k = offsets[v]; k < offsets[v + 1]; k++) {
      enter(vertex[k]);
    }
  };
  for (let start = 0; start < graph.vertexCount; start++) {
    if (label[start] >= 0 || onSpine[start]) {
      continue;
    }
    enter(start);
    while (stack.length > 0) {
      const v = stack.pop() as number;
      visit(graph.out, v);
      visit(graph.in, v);
    }
    parts++;
  }
  return label;
}

function collectBranches(
  graph: IProperGraph,
  order: IOrder,
  label: Int32Array,
  spineAt: Int32Array
): IBranch[] {
  const vertices: number[][] = [];
  const higher: number[] = [];
  for (const v of order.vertices) {
    if (label[v] >= 0) {
      (vertices[label[v]] ??= []).push(v);
      const spine = spineAt[graph.rank[v]];
      const above = spine >= 0 && order.position[v] < order.position[spine];
      higher[label[v]] = (higher[label[v]] ?? 0) + (above ? 1 : -1);
    }
  }
  return vertices.map((list, id) => ({
    vertices: list,
    first: graph.rank[list[0]],
    last: graph.rank[list[list.length - 1]],
    above: higher[id] > 0
  }));
}

class BranchPlacer {
  constructor(graph: IProperGraph, order: IOrder, gap: number) {
    this._graph = graph;
    this._gap = gap;
    const spine = findSpine(graph, order);
    this._onSpine = Uint8Array.from({ length: graph.vertexCount }, (_, v) =>
      spine.stepIn[v] >= 0 || spine.stepOut[v] >= 0 ? 1 : 0
    );
    this._spineAt = new Int32Array(graph.rankCount).fill(-1);
    this._onSpine.forEach((isOn, v) => {
      if (isOn) {
        this._spineAt[graph.rank[v]] = v;
      }
    });
    const label = labelBranches(graph, this._onSpine);
    this._branches = collectBranches(graph, order, label, this._spineAt);
    this._above = new SideProfile(graph.rankCount);
    this._below = new SideProfile(graph.rankCount);
  }

  run(): Int32Array {
    const ids = this._branches.map((_, id) => id);
    const span = (id: number) =>
      this._branches[id].last - this._branches[id].first;
    const mass = this._branches.map(({ vertices }) =>
      vertices.reduce((sum, v) => sum + this._graph.height[v], 0)
    );
    // Among equally long branches, light ones come first: they move the others least.
    ids.sort((a, b) => span(a) - span(b) || mass[a] - mass[b] || a - b);
    const above = new Uint8Array(ids.length);
    for (const id of ids) {
      const branch = this._branches[id];
      above[id] = this._better(branch) ? 1 : 0;
      this._add(id, above[id] === 1);
    }
    if (this._resolveConflicts(ids, above)) {
      this._above = new SideProfile(this._graph.rankCount);
      this._below = new SideProfile(this._graph.rankCount);
      ids.forEach(id => this._add(id, above[id] === 1));
    }
    return this._order();
  }

  private _add(id: number, above: boolean): void {
    const branch = this._branches[id];
    const bank = above ? this._above : this._below;
    bank.add(id, branch, this._thickness(branch));
  }

  /**
   * Moves branches to the other side as long as that removes crossings: a short one may have to make room
   * for a long one that was placed later. Returns whether any moved.
   */
  private _resolveConflicts(
    ids: readonly number[],
    above: Uint8Array
  ): boolean {
    const conflicts = this._conflicts(ids);
    let anyMoved = false;
    let isMoved = conflicts !== null;
    for (let pass = 0; conflicts && isMoved && pass < MAX_PASSES; pass++) {
      isMoved = false;
      for (const id of ids) {
        let gain = 0;
        for (const [other, weight] of conflicts[id] ?? []) {
          gain += above[other] === above[id] ? weight : -weight;
        }
        if (gain > 0) {
          above[id] = 1 - above[id];
          isMoved = true;
          anyMoved = true;
        }
      }
    }
    return anyMoved;
  }

  /**
   * Crossings between branches on the same side, inner ones first in `ids`; null if there are too many to
   * compare.
   */
  private _conflicts(
    ids: readonly number[]
  ): (Map<number, number> | undefined)[] | null {
    const { rank, rankCount } = this._graph;
    const covering: number[][] = Array.from({ length: rankCount }, () => []);
    const conflicts: (Map<number, number> | undefined)[] = [];
    let entries = 0;
    const addLink = (a: number, b: number, weight: number) => {
      const list = (conflicts[a] ??= new Map<number, number>());
      list.set(b, (list.get(b) ?? 0) + weight);
      entries++;
    };
    for (const id of ids) {
      const branch = this._branches[id];
      for (const v of branch.vertices) {
        const before = this._spineLinks(this._graph.in, v);
        const after = this._spineLinks(this._graph.out, v);
        const inner = [
          ...(before > 0 && rank[v] > 0 ? covering[rank[v] - 1] : []),
          ...(after > 0 ? covering[rank[v]] : [])
        ];
        for (const other of inner) {
          addLink(id, other, 1);
          addLink(other, id, 1);
        }
        if (entries > MAX_CONFLICTS) {
          return null;
        }
      }
      for (let r = branch.first; r < branch.last; r++) {
        covering[r].push(id);
      }
    }
    return conflicts;
  }

  /** True if above is better: fewer crossings, then less distance, then the current side. */
  private _better(branch: IBranch): boolean {
    const [nearSide, other] = branch.above
      ? [this._above, this._below]
      : [this._below, this._above];
    const crossings = (bank: SideProfile) => {
      let sum = 0;
      for (const v of branch.vertices) {
        const r = this._graph.rank[v];
        sum +=
          this._spineLinks(this._graph.in, v) * bank.cover(Math.max(0, r - 1));
        sum += this._spineLinks(this._graph.out, v) * bank.cover(r);
      }
      return sum;
    };
    const [ownCrossings, otherCrossings] = [
      crossings(nearSide),
      crossings(other)
    ];
    if (ownCrossings !== otherCrossings) {
      return ownCrossings < otherCrossings ? branch.above : !branch.above;
    }
    const closer = other.distance(branch) < nearSide.distance(branch);
    return closer ? !branch.above : branch.above;
  }

  /** Number of steps between the vertex and the spine. */
  private _spineLinks({ offsets, vertex }: IAdjacency, v: number): number {
    let ties = 0;
    for (let k = offsets[v]; k < offsets[v + 1]; k++) {
      ties += this._onSpine[vertex[k]];
    }
    return ties;
  }

  private _thickness({ vertices, first, last }: IBranch): Float64Array {
    const thickness = new Float64Array(last - first + 1);
    for (const v of vertices) {
      thickness[this._graph.rank[v] - first] +=
        this._graph.height[v] + this._gap;
    }
    return thickness;
  }

  /** All columns: branches above from outside in, the spine, branches below from inside out. */
  private _order(): Int32Array {
    const { rankCount, vertexCount } = this._graph;
    const rows: number[][] = Array.from({ length: rankCount }, () => []);
    const put = (id: number, above: boolean) => {
      const branch = this._branches[id];
      const isFlipped = branch.above !== above;
      const list = isFlipped ? [...branch.vertices].reverse() : branch.vertices;
      list.forEach(v => rows[this._graph.rank[v]].push(v));
    };
    [...this._above.branches].reverse().forEach(id => put(id, true));
    this._spineAt.forEach((v, r) => {
      if (v >= 0) {
        rows[r].push(v);
      }
    });
    this._below.branches.forEach(id => put(id, false));
    const vertices = new Int32Array(vertexCount);
    let filled = 0;
    for (const row of rows) {
      for (const v of row) {
        vertices[filled++] = v;
      }
    }
    return vertices;
  }

  private readonly _graph: IProperGraph;
  private readonly _gap: number;
  private readonly _onSpine: Uint8Array;
  /** The spine's vertex in each column; -1 if there is none. */
  private readonly _spineAt: Int32Array;
  private readonly _branches: IBranch[];
  private _above: SideProfile;
  private _below: SideProfile;
}

/** The order with newly chosen sides, column by column. `gap` is the space between vertices. */
export function placeBranches(
  graph: IProperGraph,
  order: IOrder,
  gap: number
): Int32Array {
  return new BranchPlacer(graph, order, gap).run();
}
