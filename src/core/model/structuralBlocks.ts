/** Structural blocks found by the recognisers, independent of module names. */

import type { GraphPayload } from '../../schema';
import { groupBy } from '../base/csr';
import type { ICsrRows } from '../base/csr';

type BlockColumns = NonNullable<GraphPayload['blocks']>;
export type BlockKind = BlockColumns['kinds'][number];

export class BlockIndex {
  readonly count: number;
  private readonly _nodes: Int32Array;
  private readonly _offsets: Int32Array;
  /** Number of each block among those of its kind, from 1. */
  private readonly _number: Int32Array;
  private readonly _ofNode: ICsrRows;

  constructor(
    private readonly _columns: BlockColumns,
    nodeCount: number
  ) {
    const { what, offsets, nodes, kinds } = _columns;
    this.count = Math.min(what.length, Math.max(0, offsets.length - 1));
    this._offsets = Int32Array.from(offsets);
    this._nodes = Int32Array.from(nodes);
    this._number = new Int32Array(this.count);
    const rows: number[] = [];
    const entries: number[] = [];
    const counts = new Map<string, number>();
    for (let block = 0; block < this.count; block++) {
      const kind = kinds[what[block]]?.kind ?? '';
      const number = (counts.get(kind) ?? 0) + 1;
      counts.set(kind, number);
      this._number[block] = number;
      const [from, to] = [offsets[block], offsets[block + 1]];
      for (let index = from; index < to; index++) {
        // All entries but the first are differences from the previous one.
        this._nodes[index] += index > from ? this._nodes[index - 1] : 0;
        if (this._nodes[index] >= 0 && this._nodes[index] < nodeCount) {
          rows.push(this._nodes[index]);
          entries.push(block);
        }
      }
    }
    this._ofNode = groupBy(nodeCount, rows, entries);
  }

  kind(block: number): BlockKind {
    return this._columns.kinds[this._columns.what[block]];
  }

  /** The block's number among those of its kind, as in the report's `attention 3`. */
  number(block: number): number {
    return this._number[block];
  }

  /** Node ids in ascending order. */
  nodes(block: number): Int32Array {
    return this._nodes.subarray(this._offsets[block], this._offsets[block + 1]);
  }

  /** Blocks that contain a node, smallest first. */
  of(node: number): number[] {
    const { offsets, values } = this._ofNode;
    const size = (block: number): number =>
      this._offsets[block + 1] - this._offsets[block];
    return Array.from(values.subarray(offsets[node], offsets[node + 1])).sort(
      (a, b) => size(a) - size(b) || a - b
    );
  }

  /** Blocks whose nodes are all among the given ones, in their order. */
  within(nodes: Iterable<number>): number[] {
    const inside = new Set(nodes);
    const blocks = new Set<number>();
    const { offsets, values } = this._ofNode;
    for (const node of inside) {
      for (let index = offsets[node]; index < offsets[node + 1]; index++) {
        blocks.add(values[index]);
      }
    }
    return [...blocks]
      .filter(block => this.nodes(block).every(node => inside.has(node)))
      .sort((a, b) => a - b);
  }
}

const indexes = new WeakMap<BlockColumns, BlockIndex>();

/** The blocks of a payload, cached; null if it lists none. Payloads for other sizes share them. */
export function blocksOf(payload: GraphPayload): BlockIndex | null {
  const { blocks, nodes } = payload;
  if (!blocks) {
    return null;
  }
  let index = indexes.get(blocks);
  if (!index) {
    index = new BlockIndex(blocks, nodes.op.length);
    indexes.set(blocks, index);
  }
  return index;
}
