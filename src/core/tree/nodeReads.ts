/** The drawn reads of each node, and the range of positions that reads each tensor. */

import { groupBy, indexBy, IntList } from '../base/csr';
import type { ICsrRows } from '../base/csr';
import { TENSOR_KIND } from '../model/decodePayload';
import type { IGraphModel } from '../types';

/** Marks tensors that edges are drawn from: those with a visible producer, and inputs. */
function drawnTensors(model: IGraphModel): Uint8Array {
  const isOutput = new Uint8Array(model.tensorCount);
  for (let tensor = 0; tensor < model.tensorCount; tensor++) {
    const producer = model.tensorProducer[tensor];
    if (producer >= 0) {
      isOutput[tensor] = model.nodeConstant[producer] ? 0 : 1;
    }
  }
  for (const tensor of interfaceTensors(model)) {
    isOutput[tensor] = 1;
  }
  return isOutput;
}

/** Inputs of the main graph, and the formal inputs of every subgraph. */
function interfaceTensors(model: IGraphModel): number[] {
  const { tensors, graphs } = model.payload;
  const formal = graphs.inputs.slice(1).flat();
  const inputs = tensors.inputs.filter(
    t => model.tensorKind[t] !== TENSOR_KIND.initializer
  );
  return [...inputs, ...formal].filter(t => t >= 0 && t < model.tensorCount);
}

/** Marks nodes that compute from constants only. */
export function computesAlone(model: IGraphModel): Uint8Array {
  const isDrawn = drawnTensors(model);
  const { nodeCount, inputs, inputOffsets, tensorProducer } = model;
  const alone = new Uint8Array(nodeCount);
  const isMade = (tensor: number) =>
    tensor < 0 || !isDrawn[tensor] || alone[tensorProducer[tensor]] === 1;
  for (let node = 0; node < nodeCount; node++) {
    const reads = inputs.subarray(inputOffsets[node], inputOffsets[node + 1]);
    // A node without any input creates its own values, such as noise.
    const mayBe = reads.length > 0 || model.opType(node) === 'ConstantOfShape';
    alone[node] = mayBe && reads.every(isMade) ? 1 : 0;
  }
  return alone;
}

/**
 * See `IGroupTree.reads`. Weights computed in the graph are not data flow: their wires are drawn only
 * within their box. `levelOf`: the level in which a node is drawn, as itself or as the box of what it needs.
 */
export function collectReads(
  model: IGraphModel,
  nodeParent: Int32Array,
  alone: Uint8Array,
  levelOf: (node: number) => number
): ICsrRows {
  const { graphs } = model.payload;
  const isDrawn = drawnTensors(model);
  const last = new Int32Array(model.tensorCount).fill(-1);
  const readers = new IntList();
  const tensors = new IntList();
  const results = new Map<number, number[]>();
  for (let graph = 1; graph < graphs.name.length; graph++) {
    const node = graphs.parent_node[graph];
    const outputs = graphs.outputs[graph] ?? [];
    results.set(node, [...(results.get(node) ?? []), ...outputs]);
  }
  const read = (node: number, tensor: number) => {
    const producer = tensor < 0 ? -1 : model.tensorProducer[tensor];
    if (
      producer >= 0 &&
      alone[producer] &&
      nodeParent[producer] !== nodeParent[node] &&
      nodeParent[producer] !== levelOf(node)
    ) {
      return;
    }
    if (tensor >= 0 && isDrawn[tensor] && last[tensor] !== node) {
      last[tensor] = node;
      readers.push(node);
      tensors.push(tensor);
    }
  };
  for (let node = 0; node < model.nodeCount; node++) {
    if (model.nodeConstant[node]) {
      continue;
    }
    const end = model.inputOffsets[node + 1];
    for (let k = model.inputOffsets[node]; k < end; k++) {
      read(node, model.inputs[k]);
    }
    for (const tensor of results.get(node) ?? []) {
      read(node, tensor);
    }
  }
  return groupBy(model.nodeCount, readers.toArray(), tensors.toArray());
}

/** First and last position that reads each tensor. */
export function computeReadRange(
  model: IGraphModel,
  reads: ICsrRows,
  nodePosition: Int32Array,
  positions: number,
  outputsOf: ReadonlyMap<number, readonly number[]>
) {
  const firstRead = new Int32Array(model.tensorCount).fill(positions + 1);
  const lastRead = new Int32Array(model.tensorCount).fill(-1);
  const addRead = (tensor: number, position: number) => {
    firstRead[tensor] = Math.min(firstRead[tensor], position);
    lastRead[tensor] = Math.max(lastRead[tensor], position);
  };
  for (let node = 0; node < model.nodeCount; node++) {
    for (let k = reads.offsets[node]; k < reads.offsets[node + 1]; k++) {
      addRead(reads.values[k], nodePosition[node]);
    }
  }
  for (const tensor of outputsOf.get(-1) ?? []) {
    addRead(tensor, positions);
  }
  return { firstRead, lastRead };
}

/**
 * The nodes in file order, except that computations from constants (such as weights) come where they are
 * first read: some files have all of them at the start.
 */
export function orderByFirstUse(model: IGraphModel): Int32Array {
  const { nodeCount, outputs, outputOffsets } = model;
  const { consumers, consumerOffsets } = model;
  const alone = computesAlone(model);
  const firstUse = Int32Array.from({ length: nodeCount }, (_, node) => node);
  for (let node = nodeCount - 1; node >= 0; node--) {
    if (!alone[node]) {
      continue;
    }
    let first = nodeCount;
    for (let k = outputOffsets[node]; k < outputOffsets[node + 1]; k++) {
      const tensor = outputs[k];
      const end = tensor < 0 ? 0 : consumerOffsets[tensor + 1];
      for (let c = tensor < 0 ? 0 : consumerOffsets[tensor]; c < end; c++) {
        first = Math.min(first, firstUse[consumers[c]]);
      }
    }
    // Without a reader it keeps its position.
    firstUse[node] = first < nodeCount ? Math.max(node, first) : node;
  }
  return indexBy(nodeCount, firstUse).values;
}
