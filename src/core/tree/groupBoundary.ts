/** The inputs and outputs of a group. */

import type { IGroupTree } from './treeTypes';

/**
 * Tensors read from outside the group, and its own tensors that are read outside or are model outputs.
 */
export interface IBoundary {
  readonly inputs: readonly number[];
  readonly outputs: readonly number[];
}

/** Each tensor once, in the order in which the group reads or produces them. Weights are not inputs. */
export function boundary(tree: IGroupTree, group: number): IBoundary {
  const { model, nodeOrder, nodePosition, reads, firstRead, lastRead } = tree;
  const [start, end] = [tree.groupStart[group], tree.groupEnd[group]];
  const inputs = new Set<number>();
  const outputs: number[] = [];
  for (let index = start; index < end; index++) {
    const node = nodeOrder[index];
    for (let k = reads.offsets[node]; k < reads.offsets[node + 1]; k++) {
      const tensor = reads.values[k];
      const producer = model.tensorProducer[tensor];
      const position = producer < 0 ? -1 : nodePosition[producer];
      if (position < start || position >= end) {
        inputs.add(tensor);
      }
    }
    for (
      let k = model.outputOffsets[node];
      k < model.outputOffsets[node + 1];
      k++
    ) {
      const tensor = model.outputs[k];
      const leaves =
        tensor >= 0 &&
        lastRead[tensor] >= 0 &&
        (firstRead[tensor] < start || lastRead[tensor] >= end);
      if (leaves) {
        outputs.push(tensor);
      }
    }
  }
  return { inputs: [...inputs], outputs };
}
