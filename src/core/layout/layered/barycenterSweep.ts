/** Improves the order within columns: barycentre sweeps, and swaps of neighbours. */

import { indexBy } from '../../base/csr';
import { CrossingCounter, portNumbers } from './crossingCounter';
import type { IOrder } from './crossingCounter';
import type { IProperGraph, IAdjacency } from './properGraph';

/** Maximum number of wire pairs for which a swap of two vertices is tried. */
const SWAP_LIMIT = 4096;

/**
 * Adjacency on one side, with the far ends as fractions of a position: ports lie between -0.5 and 0.5.
 */
interface IGuide {
  readonly offsets: Int32Array;
  readonly vertex: Int32Array;
  readonly fraction: Float64Array;
}

function guide(adjacent: IAdjacency, remote: IAdjacency): IGuide {
  const ports = portNumbers(remote);
  const fractionOfStep = new Float64Array(remote.step.length);
  const vertices = remote.offsets.length - 1;
  for (let v = 0; v < vertices; v++) {
    for (let k = remote.offsets[v]; k < remote.offsets[v + 1]; k++) {
      fractionOfStep[remote.step[k]] =
        (ports.port[k] + 0.5) / ports.count[v] - 0.5;
    }
  }
  return {
    offsets: adjacent.offsets,
    vertex: adjacent.vertex,
    fraction: Float64Array.from(adjacent.step, step => fractionOfStep[step])
  };
}

/** Sorts a short list of vertices by key; stable. */
function sortByKey(list: Int32Array, key: Float64Array): void {
  if (list.length > 32) {
    const position = new Map<number, number>();
    list.forEach((v, i) => position.set(v, i));
    list.sort(
      (a, b) =>
        key[a] - key[b] || (position.get(a) ?? 0) - (position.get(b) ?? 0)
    );
    return;
  }
  for (let i = 1; i < list.length; i++) {
    const v = list[i];
    let j = i - 1;
    while (j >= 0 && key[list[j]] > key[v]) {
      list[j + 1] = list[j];
      j--;
    }
    list[j + 1] = v;
  }
}

/** An order, and the operations that improve it. */
export class LayerSweep {
  constructor(graph: IProperGraph) {
    this._graph = graph;
    this._left = guide(graph.in, graph.out);
    this._right = guide(graph.out, graph.in);
    this._counter = new CrossingCounter(graph);
    this._key = new Float64Array(graph.vertexCount);
    const rows = indexBy(graph.rankCount, graph.rank);
    this.order = {
      vertices: rows.values,
      columns: rows.offsets,
      position: new Int32Array(graph.vertexCount)
    };
  }

  readonly order: IOrder;

  /**
   * Orders vertices depth-first from the sources (or sinks), so that the ends of a wire get nearby
   * positions.
   */
  start(forward: boolean): void {
    const { vertices, columns, position } = this.order;
    const { rankCount, rank, vertexCount } = this._graph;
    const adjacency = forward ? this._graph.out : this._graph.in;
    const filled = columns.slice(0, rankCount);
    const visited = new Uint8Array(vertexCount);
    const seeds = this._seeds(forward);
    const stack: number[] = [];
    for (let i = 0; i < vertexCount; i++) {
      stack.push(seeds[i]);
      while (stack.length > 0) {
        const v = stack.pop() as number;
        if (visited[v]) {
          continue;
        }
        visited[v] = 1;
        vertices[filled[rank[v]]++] = v;
        for (
          let k = adjacency.offsets[v + 1] - 1;
          k >= adjacency.offsets[v];
          k--
        ) {
          if (!visited[adjacency.vertex[k]]) {
            stack.push(adjacency.vertex[k]);
          }
        }
      }
    }
    for (let r = 0; r < rankCount; r++) {
      for (let i = columns[r]; i < columns[r + 1]; i++) {
        position[vertices[i]] = i - columns[r];
      }
    }
  }

  crossings(): number {
    return this._counter.total(this.order);
  }

  /**
   * One pass over the columns. If `fixed`, vertices without neighbours on that side keep their position.
   */
  sweep(rightwards: boolean, fixed: boolean, median: boolean): void {
    const { rankCount } = this._graph;
    const guide = rightwards ? this._left : this._right;
    for (let i = 1; i < rankCount; i++) {
      const r = rightwards ? i : rankCount - 1 - i;
      this._sortColumn(r, guide, fixed, median);
    }
  }

  /** Swaps neighbours as long as that removes crossings, for at most three rounds. */
  transpose(): void {
    const { vertices, columns, position } = this.order;
    let improved = true;
    for (let round = 0; improved && round < 3; round++) {
      improved = false;
      for (let r = 0; r < this._graph.rankCount; r++) {
        for (let i = columns[r]; i + 1 < columns[r + 1]; i++) {
          const [a, b] = [vertices[i], vertices[i + 1]];
          const gain =
            this._swapGain(this._left, a, b) +
            this._swapGain(this._right, a, b);
          if (gain > 0) {
            vertices[i] = b;
            vertices[i + 1] = a;
            position[b]--;
            position[a]++;
            improved = true;
          }
        }
      }
    }
  }

  save(): Int32Array {
    return this.order.vertices.slice();
  }

  restore(saved: Int32Array): void {
    const { vertices, columns, position } = this.order;
    vertices.set(saved);
    for (let r = 0; r < this._graph.rankCount; r++) {
      for (let i = columns[r]; i < columns[r + 1]; i++) {
        position[vertices[i]] = i - columns[r];
      }
    }
  }

  /**
   * All vertices by column, starting at the first or the last column; in each column in the given order.
   */
  private _seeds(forward: boolean): Int32Array {
    const { rankCount, rank } = this._graph;
    const last = rankCount - 1;
    const column = forward ? rank : rank.map(r => last - r);
    return indexBy(rankCount, column).values;
  }

  private _sortColumn(
    r: number,
    guide: IGuide,
    fixed: boolean,
    median: boolean
  ): void {
    const { vertices, columns, position } = this.order;
    const column = vertices.subarray(columns[r], columns[r + 1]);
    if (column.length < 2) {
      return;
    }
    const guided = column.filter(
      v => guide.offsets[v] !== guide.offsets[v + 1]
    );
    for (const v of column) {
      this._key[v] = this._position(guide, v, median);
    }
    if (fixed) {
      sortByKey(guided, this._key);
      let next = 0;
      for (let i = 0; i < column.length; i++) {
        if (guide.offsets[column[i]] !== guide.offsets[column[i] + 1]) {
          column[i] = guided[next++];
        }
      }
    } else {
      sortByKey(column, this._key);
    }
    for (let i = 0; i < column.length; i++) {
      position[column[i]] = i;
    }
  }

  /** Position preferred by the vertex's neighbours; its own if it has none. */
  private _position(guide: IGuide, v: number, median: boolean): number {
    const [begin, end] = [guide.offsets[v], guide.offsets[v + 1]];
    const { position } = this.order;
    if (begin === end) {
      return position[v];
    }
    if (median && end - begin > 2) {
      const positions = new Float64Array(end - begin);
      for (let k = begin; k < end; k++) {
        positions[k - begin] = position[guide.vertex[k]] + guide.fraction[k];
      }
      return positions.sort()[positions.length >> 1];
    }
    let sum = 0;
    for (let k = begin; k < end; k++) {
      sum += position[guide.vertex[k]] + guide.fraction[k];
    }
    return sum / (end - begin);
  }

  /** Number of crossings saved by moving b before its neighbour a. */
  private _swapGain(guide: IGuide, a: number, b: number): number {
    const [a0, a1] = [guide.offsets[a], guide.offsets[a + 1]];
    const [b0, b1] = [guide.offsets[b], guide.offsets[b + 1]];
    if ((a1 - a0) * (b1 - b0) > SWAP_LIMIT) {
      return 0;
    }
    const { position } = this.order;
    let gain = 0;
    for (let i = a0; i < a1; i++) {
      const p = position[guide.vertex[i]] + guide.fraction[i];
      for (let j = b0; j < b1; j++) {
        const q = position[guide.vertex[j]] + guide.fraction[j];
        gain += p > q ? 1 : p < q ? -1 : 0;
      }
    }
    return gain;
  }

  private readonly _graph: IProperGraph;
  /** Adjacency to the column on the left and on the right. */
  private readonly _left: IGuide;
  private readonly _right: IGuide;
  private readonly _counter: CrossingCounter;
  private readonly _key: Float64Array;
}
