/** Pairs by wiring: nodes at the same position relative to an already matched pair. */

import { FIRST_INPUTS, type PairTable, type Side } from './nodePairs';
import type { IGraphModel } from '../types';

/** Marks a position shared by several nodes. */
const AMBIGUOUS = -2;

/** Output index of each tensor at its producer. */
function slots(model: IGraphModel): Int32Array {
  const producers = new Int32Array(model.tensorCount).fill(-1);
  for (let node = 0; node < model.nodeCount; node++) {
    const from = model.outputOffsets[node];
    for (let k = from; k < model.outputOffsets[node + 1]; k++) {
      if (model.outputs[k] >= 0) {
        producers[model.outputs[k]] = k - from;
      }
    }
  }
  return producers;
}

/** Propagates the existing pairs, along every wire once. Linear in the number of wires. */
export class WirePropagation {
  private readonly _queue: number[] = [];

  private readonly _slots: readonly [Int32Array, Int32Array];

  constructor(private readonly _pairs: PairTable) {
    const [left, right] = _pairs.models;
    this._slots = [slots(left), slots(right)];
  }

  propagate(): void {
    const pairs = this._pairs;
    const [left, right] = pairs.models;
    const { inputs } = left.payload.tensors;
    const named = new Map(
      right.payload.tensors.inputs.map(t => [right.tensorName(t), t] as const)
    );
    for (const tensor of inputs) {
      const other = named.get(left.tensorName(tensor));
      if (other !== undefined) {
        this._matchReaders(tensor, other);
      }
    }
    pairs.to[0].forEach((other, node) => other >= 0 && this._queue.push(node));
    for (let position = 0; position < this._queue.length; position++) {
      this._around(this._queue[position]);
    }
  }

  private _around(node: number): void {
    const { models, to } = this._pairs;
    const [left, right] = models;
    const other = to[0][node];
    if (this._pairs.operator(0, node) !== this._pairs.operator(1, other)) {
      return;
    }
    const from = left.inputOffsets[node];
    const start = right.inputOffsets[other];
    const operands = this._operands(1, other);
    for (let k = from; k < left.inputOffsets[node + 1]; k++) {
      const operand = this._pairs.operators[0].operand(node, k - from);
      const index = operands.get(operand);
      if (index !== undefined) {
        this._matchProducers(left.inputs[k], right.inputs[start + index]);
      }
    }
    const firstOutput = left.outputOffsets[node];
    const otherFirst = right.outputOffsets[other];
    const outputCount = Math.min(
      left.outputOffsets[node + 1] - firstOutput,
      right.outputOffsets[other + 1] - otherFirst
    );
    for (let k = 0; k < outputCount; k++) {
      this._matchReaders(
        left.outputs[firstOutput + k],
        right.outputs[otherFirst + k]
      );
    }
  }

  /** Input index of each operand. */
  private _operands(side: Side, node: number): Map<number, number> {
    const { inputOffsets } = this._pairs.models[side];
    const inputIndex = new Map<number, number>();
    for (let k = 0; k < inputOffsets[node + 1] - inputOffsets[node]; k++) {
      inputIndex.set(this._pairs.operators[side].operand(node, k), k);
    }
    return inputIndex;
  }

  /** Matches the producers of two tensors, and those of the values they store in another type. */
  private _matchProducers(a: number, b: number): void {
    const [left, right] = this._pairs.operators;
    this._joinProducers(a, b);
    const [x, y] = [left.computed(a), right.computed(b)];
    if (x !== a || y !== b) {
      this._joinProducers(x, y);
    }
  }

  private _joinProducers(a: number, b: number): void {
    if (a < 0 || b < 0) {
      return;
    }
    const [left, right] = this._pairs.models;
    const producers = [left.tensorProducer[a], right.tensorProducer[b]];
    if (
      producers[0] >= 0 &&
      producers[1] >= 0 &&
      this._slots[0][a] === this._slots[1][b]
    ) {
      this._join(producers[0], producers[1]);
    }
  }

  /** Matches the readers of two tensors that are the only ones of their operator at their position. */
  private _matchReaders(a: number, b: number): void {
    if (a < 0 || b < 0) {
      return;
    }
    const left = this._readersByPosition(0, a);
    const right = left.size > 0 ? this._readersByPosition(1, b) : left;
    for (const [key, node] of left) {
      const other = right.get(key) ?? -1;
      if (node >= 0 && other >= 0) {
        this._join(node, other);
      }
    }
  }

  private _readersByPosition(side: Side, tensor: number): Map<string, number> {
    const model = this._pairs.models[side];
    const operators = this._pairs.operators[side];
    const byKey = new Map<string, number>();
    const tensors = [tensor];
    // The list grows while it is read: nodes that only change the storage type are looked through.
    for (
      let index = 0;
      index < tensors.length && index < FIRST_INPUTS;
      index++
    ) {
      const read = tensors[index];
      const end = model.consumerOffsets[read + 1];
      for (let k = model.consumerOffsets[read]; k < end; k++) {
        const node = model.consumers[k];
        const from = model.inputOffsets[node];
        const to = Math.min(model.inputOffsets[node + 1], from + FIRST_INPUTS);
        const slot = model.inputs.subarray(from, to).indexOf(read);
        if (
          operators.forwardsInput(node) &&
          model.outputOffsets[node + 1] > model.outputOffsets[node]
        ) {
          tensors.push(model.outputs[model.outputOffsets[node]]);
        }
        if (this._pairs.isFree(side, node)) {
          const key = `${operators.operand(node, slot)} ${operators.of(node)}`;
          const previous = byKey.get(key);
          byKey.set(
            key,
            previous === undefined || previous === node ? node : AMBIGUOUS
          );
        }
      }
    }
    return byKey;
  }

  private _join(node: number, other: number): void {
    const pairs = this._pairs;
    const isAlike =
      pairs.isFree(0, node) &&
      pairs.isFree(1, other) &&
      pairs.operator(0, node) === pairs.operator(1, other) &&
      pairs.sameWeights(node, other);
    if (isAlike && pairs.join(node, other, 'wiring')) {
      this._queue.push(node);
    }
  }
}
