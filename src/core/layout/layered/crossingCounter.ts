/** Counts wire crossings between adjacent columns, distinguishing the ports of an item. */

import type { IProperGraph, IAdjacency } from './properGraph';

/** An order of the vertices of every column. */
export interface IOrder {
  /** Vertices, column by column. */
  readonly vertices: Int32Array;
  /** Column r is `vertices[columns[r] … columns[r+1])`. */
  readonly columns: Int32Array;
  /** Position of each vertex within its column. */
  readonly position: Int32Array;
}

/** Port number (by distinct offset) of each entry on one side, and the number of ports of each vertex. */
export function portNumbers(adjacency: IAdjacency): {
  port: Int32Array;
  count: Int32Array;
} {
  const vertices = adjacency.offsets.length - 1;
  const port = new Int32Array(adjacency.step.length);
  const count = new Int32Array(vertices).fill(1);
  for (let v = 0; v < vertices; v++) {
    let current = 0;
    for (let k = adjacency.offsets[v] + 1; k < adjacency.offsets[v + 1]; k++) {
      if (adjacency.ownOffset[k] !== adjacency.ownOffset[k - 1]) {
        current++;
      }
      port[k] = current;
    }
    count[v] = current + 1;
  }
  return { port, count };
}

/** Counts with a Fenwick tree: O(E log V) per pair of columns. */
export class CrossingCounter {
  constructor(graph: IProperGraph) {
    this._graph = graph;
    const entering = portNumbers(graph.in);
    this._ports = entering.count;
    this._leavingPort = portNumbers(graph.out).port;
    this._portOfStep = new Int32Array(graph.stepCount);
    let slots = 2;
    graph.in.step.forEach((step, k) => {
      this._portOfStep[step] = entering.port[k];
    });
    for (const ports of entering.count) {
      slots += ports;
    }
    this._tree = new Int32Array(slots);
    this._base = new Int32Array(graph.vertexCount);
  }

  total(order: IOrder): number {
    let sum = 0;
    for (let r = 0; r + 1 < this._graph.rankCount; r++) {
      sum += this.between(order, r);
    }
    return sum;
  }

  /** Crossings between column r and the next. */
  between(order: IOrder, r: number): number {
    const { vertices, columns } = order;
    const [begin, middle, end] = [columns[r], columns[r + 1], columns[r + 2]];
    let slots = 0;
    for (let i = middle; i < end; i++) {
      this._base[vertices[i]] = slots;
      slots += this._ports[vertices[i]];
    }
    if (slots < 2) {
      return 0;
    }
    this._tree.fill(0, 0, slots + 1);
    let crossings = 0;
    let inserted = 0;
    for (let i = begin; i < middle; i++) {
      const last = this._graph.out.offsets[vertices[i] + 1];
      let k = this._graph.out.offsets[vertices[i]];
      while (k < last) {
        let next = k + 1;
        while (
          next < last &&
          this._leavingPort[next] === this._leavingPort[k]
        ) {
          next++;
        }
        for (let j = k; j < next; j++) {
          crossings += inserted - this._upTo(this._slot(j));
        }
        for (let j = k; j < next; j++) {
          this._add(this._slot(j), slots);
        }
        inserted += next - k;
        k = next;
      }
    }
    return crossings;
  }

  private _slot(entry: number): number {
    const { vertex, step } = this._graph.out;
    return this._base[vertex[entry]] + this._portOfStep[step[entry]] + 1;
  }

  /** Number of earlier wires that end at or above this slot. */
  private _upTo(slot: number): number {
    let sum = 0;
    for (let i = slot; i > 0; i -= i & -i) {
      sum += this._tree[i];
    }
    return sum;
  }

  private _add(slot: number, slots: number): void {
    for (let i = slot; i <= slots; i += i & -i) {
      this._tree[i]++;
    }
  }

  private readonly _graph: IProperGraph;
  private readonly _ports: Int32Array;
  private readonly _leavingPort: Int32Array;
  private readonly _portOfStep: Int32Array;
  private readonly _tree: Int32Array;
  private readonly _base: Int32Array;
}
