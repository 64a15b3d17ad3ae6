/** For two models merged into one graph: the wires of both, and those of only one. */

import { highlightedWires } from '../trace/traceHighlight';
import { TENSOR_KIND } from '../model/decodePayload';
import type { GraphPayload } from '../../schema';
import type { IScene } from '../types';
import type { IGroupTree } from '../tree/treeTypes';

/** Models that have a wire: both, only the first, only the second. */
export const WIRE = { both: 0, removed: 1, added: 2 } as const;
export type WireSide = (typeof WIRE)[keyof typeof WIRE];

/** Model inputs as sources of wires are numbered downwards from here. */
const INPUTS = -10;

/** Key of a wire between two pairs; model inputs are negative. */
function key(from: number, to: number): number {
  return (from + 2 ** 25) * 2 ** 26 + to;
}

/** Wires between pairs, in one of the two models. */
export class PairWires {
  private readonly _from: readonly (readonly number[])[];
  private readonly _into = new Set<number>();
  private readonly _ends = new Set<number>();

  /**
   * `column`: pair of each node, -1 without a counterpart, -2 if it takes no part and passes wires
   * through. `inputs`: key of each model input, equal on both sides.
   */
  constructor(
    private readonly _payload: GraphPayload,
    private readonly _column: readonly number[],
    inputs: ReadonlyMap<number, number>
  ) {
    const { nodes, tensors } = _payload;
    const from: (readonly number[])[] = tensors.producer.map(
      (producer, tensor) => {
        const input = inputs.get(tensor);
        const pair = producer < 0 ? -2 : _column[producer];
        return input !== undefined
          ? [INPUTS - input]
          : pair === -2
            ? []
            : [pair];
      }
    );
    nodes.op.forEach((_, node) => {
      const targets = this.inputs(node).flatMap(tensor => from[tensor] ?? []);
      if (_column[node] === -2) {
        const { output_offsets: offsets, outputs } = nodes;
        for (const tensor of outputs.slice(offsets[node], offsets[node + 1])) {
          from[tensor] = [...new Set(targets)];
        }
      }
    });
    this._from = from;
    nodes.op.forEach((_, node) => {
      for (const tensor of this.inputs(node)) {
        for (const pair of from[tensor] ?? []) {
          this._into.add(key(pair, _column[node]));
        }
      }
    });
    for (const tensor of tensors.outputs) {
      from[tensor]?.forEach(pair => this._ends.add(pair));
    }
  }

  /** Tensors that a node reads. */
  inputs(node: number): number[] {
    const { input_offsets: offsets, inputs } = this._payload.nodes;
    return inputs
      .slice(offsets[node], offsets[node + 1])
      .filter(tensor => tensor >= 0);
  }

  /** Pairs that produce a tensor; empty for weights and if unknown. */
  from(tensor: number): readonly number[] {
    return this._from[tensor] ?? [];
  }

  /** True if the other model has no counterpart of this node's reading of the tensor. */
  isOnly(tensor: number, node: number, other: PairWires): boolean {
    const pair = this._column[node];
    const from = this.from(tensor);
    return (
      pair === -1 ||
      from.includes(-1) ||
      (pair >= 0 &&
        from.length > 0 &&
        !from.some(
          source => source === pair || other._into.has(key(source, pair))
        ))
    );
  }

  /** True if the other model has no output from the same source. */
  isOnlyEnd(tensor: number, other: PairWires): boolean {
    const from = this.from(tensor);
    return from.length > 0 && !from.some(source => other._ends.has(source));
  }
}

/** Model inputs that are drawn. */
export function shownInputs({ tensors }: GraphPayload): number[] {
  return tensors.inputs.filter(
    tensor => tensors.kind[tensor] === TENSOR_KIND.input
  );
}

/**
 * The `WIRE` value of each edge of a scene; an edge that stands for wires of several kinds counts as
 * both. Linear.
 */
export function sceneWires(
  tree: IGroupTree,
  scene: IScene,
  sideOf: (node: number, tensor: number) => WireSide
): Uint8Array {
  const [inBoth, removed, added] = [WIRE.both, WIRE.removed, WIRE.added].map(
    side =>
      highlightedWires(
        tree,
        scene,
        (node, tensor) => sideOf(node, tensor) === side
      )
  );
  return removed.map((is, edge) =>
    inBoth[edge] || (is && added[edge])
      ? WIRE.both
      : is
        ? WIRE.removed
        : added[edge]
          ? WIRE.added
          : WIRE.both
  );
}
