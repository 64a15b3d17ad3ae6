/**
 * Shortens wires by moving parts of the graph between columns: the network simplex method of Gansner,
 * Koutsofios, North and Vo ("A technique for drawing directed graphs", 1993), with two differences. A
 * pass makes all moves of one tree before it builds the next, and the work is bounded: ranks are feasible
 * after every move, so it may stop at any time.
 */

import { indexBy } from '../../base/csr';
import type { ICsrRows } from '../../base/csr';

/** Wires of an acyclic graph; each end is at least one column before the other. */
export interface IWeighted {
  readonly count: number;
  readonly from: Int32Array;
  readonly to: Int32Array;
  /** Weight of a wire's length; 0 means that it only keeps its ends in order. */
  readonly weight: Float64Array;
}

const MAX_PASSES = 80;
/** Number of passes without gain after which the search stops. */
const MAX_STALE_PASSES = 4;

/** A spanning tree of tight wires, parents first. */
interface ISpanningTree {
  readonly order: Int32Array;
  /** Wire to the parent; -1 for a root. */
  readonly wire: Int32Array;
  /** Index in `order` after the last descendant. */
  readonly end: Int32Array;
  readonly preorder: Int32Array;
}

class NetworkSimplex {
  constructor(graph: IWeighted, rank: Int32Array, work: number) {
    this._graph = graph;
    this._rank = rank;
    this._work = work;
    this._out = indexBy(graph.count, graph.from);
    this._in = indexBy(graph.count, graph.to);
    this._pull = new Float64Array(graph.count);
    graph.weight.forEach((weight, e) => {
      this._pull[graph.from[e]] += weight;
      this._pull[graph.to[e]] -= weight;
    });
  }

  run(): void {
    let preferred: number[] = [];
    let stale = 0;
    for (let pass = 0; pass < MAX_PASSES && stale < MAX_STALE_PASSES; pass++) {
      const tree = this._tree(preferred);
      const moves = this._moves(tree);
      stale = moves.gain > 0 ? 0 : stale + 1;
      preferred = moves.entering;
      if (moves.entering.length === 0 || this._work <= 0) {
        return;
      }
    }
  }

  private _slack(e: number): number {
    const { from, to } = this._graph;
    return this._rank[to[e]] - this._rank[from[e]] - 1;
  }

  /**
   * Depth-first search over tight wires, preferred ones first, from the vertices without a predecessor.
   */
  private _tree(preferred: readonly number[]): ISpanningTree {
    const { count } = this._graph;
    const linked = this._forest(preferred);
    const order = new Int32Array(count);
    const wire = new Int32Array(count).fill(-1);
    const end = new Int32Array(count);
    const preorder = new Int32Array(count).fill(-1);
    const { from, to } = this._graph;
    const rows = indexBy(
      count,
      Int32Array.from([...linked.map(e => from[e]), ...linked.map(e => to[e])])
    );
    let filled = 0;
    const stack: number[] = [];
    for (let root = 0; root < count; root++) {
      if (preorder[root] >= 0) {
        continue;
      }
      stack.push(root);
      preorder[root] = filled;
      order[filled++] = root;
      const cursor: number[] = [rows.offsets[root]];
      while (stack.length > 0) {
        const v = stack[stack.length - 1];
        const position = cursor[cursor.length - 1]++;
        if (position >= rows.offsets[v + 1]) {
          end[v] = filled;
          stack.pop();
          cursor.pop();
          continue;
        }
        const e = linked[rows.values[position] % linked.length];
        const next = from[e] === v ? to[e] : from[e];
        if (preorder[next] < 0) {
          wire[next] = e;
          preorder[next] = filled;
          order[filled++] = next;
          stack.push(next);
          cursor.push(rows.offsets[next]);
        }
      }
    }
    this._work -= count;
    return { order, wire, end, preorder };
  }

  /** A spanning forest of tight wires. */
  private _forest(preferred: readonly number[]): number[] {
    const { count, from, to } = this._graph;
    const parent = Int32Array.from({ length: count }, (_, v) => v);
    const find = (v: number): number => {
      while (parent[v] !== v) {
        parent[v] = parent[parent[v]];
        v = parent[v];
      }
      return v;
    };
    const linked: number[] = [];
    const link = (e: number) => {
      if (this._slack(e) !== 0) {
        return;
      }
      const [a, b] = [find(from[e]), find(to[e])];
      if (a !== b) {
        parent[a] = b;
        linked.push(e);
      }
    };
    preferred.forEach(link);
    this._kept.forEach(link);
    for (let e = 0; e < from.length; e++) {
      link(e);
    }
    this._work -= from.length;
    this._kept = linked;
    return linked;
  }

  /** Moves every subtree that gains from it, as far as the wires around it allow. */
  private _moves(tree: ISpanningTree): { gain: number; entering: number[] } {
    const { order, wire, end, preorder } = tree;
    const { from } = this._graph;
    const sum = this._pull.slice();
    const entering: number[] = [];
    const leaving = new Set<number>();
    let gain = 0;
    for (let i = order.length - 1; i >= 0; i--) {
      const v = order[i];
      const e = wire[v];
      if (e >= 0) {
        const up = from[e] === v ? this._graph.to[e] : from[e];
        sum[up] += sum[v];
      }
      // A tight wire to the parent blocks the subtree in one direction only; a root is free.
      const right = sum[v] > 0 && (e < 0 || from[e] !== v);
      const left = sum[v] < 0 && (e < 0 || from[e] === v);
      if ((right || left) && this._work > 0) {
        const limit = this._limit(order, preorder, i, end[v], right);
        if (limit.wire >= 0) {
          this._shift(order, i, end[v], right ? limit.slack : -limit.slack);
          entering.push(limit.wire);
          leaving.add(e);
          gain += Math.abs(sum[v]) * limit.slack;
        }
      }
    }
    // Wires that a move released come last when the next tree is built.
    this._kept = this._kept.filter(e => !leaving.has(e));
    return { gain, entering };
  }

  /** The first wire that stops a subtree on its way. */
  private _limit(
    order: Int32Array,
    preorder: Int32Array,
    begin: number,
    end: number,
    right: boolean
  ): { slack: number; wire: number } {
    const edges: ICsrRows = right ? this._out : this._in;
    const farEnd = right ? this._graph.to : this._graph.from;
    let best = { slack: Infinity, wire: -1 };
    for (let i = begin; i < end; i++) {
      const v = order[i];
      for (let k = edges.offsets[v]; k < edges.offsets[v + 1]; k++) {
        const e = edges.values[k];
        const position = preorder[farEnd[e]];
        if (
          (position < begin || position >= end) &&
          this._slack(e) < best.slack
        ) {
          best = { slack: this._slack(e), wire: e };
        }
      }
    }
    this._work -= end - begin;
    return best;
  }

  private _shift(order: Int32Array, begin: number, end: number, by: number) {
    for (let i = begin; i < end; i++) {
      this._rank[order[i]] += by;
    }
  }

  private readonly _graph: IWeighted;
  private readonly _rank: Int32Array;
  private readonly _out: ICsrRows;
  private readonly _in: ICsrRows;
  /** Weight of outgoing wires minus that of incoming ones: the gain of moving right. */
  private readonly _pull: Float64Array;
  private _kept: number[] = [];
  /** Remaining steps. */
  private _work: number;
}

/** Improves a feasible rank assignment in place; `work` limits the steps. Deterministic. */
export function minimizeWireLength(
  graph: IWeighted,
  rank: Int32Array,
  work: number
): void {
  new NetworkSimplex(graph, rank, work).run();
}
