/** Live tensors while a node runs, and their bytes. */

import type { TimelineColumns } from '../../schema';
import { tensorBytes } from './tensorBytes';
import { TENSOR_KIND } from './decodePayload';
import type { IGraphModel } from '../types';

/** A memory buffer in use. */
export interface ILiveTensor {
  /** The tensor in it that was produced last. */
  readonly tensor: number;
  /** Size of the buffer; null if unknown. */
  readonly bytes: number | null;
  /** Number of live tensors that share it. */
  readonly sharing: number;
}

/** Lifetimes of the tensors of the main graph. */
export class Lifetimes {
  private readonly _first: Int32Array;
  private readonly _owner: Int32Array;

  constructor(
    private readonly _model: IGraphModel,
    private readonly _timeline: TimelineColumns
  ) {
    const { tensorCount } = _model;
    const stepOf = new Int32Array(_model.nodeCount).fill(-2);
    _timeline.node.forEach((node, step) => {
      stepOf[node] = step;
    });
    this._first = Int32Array.from({ length: tensorCount }, (_, tensor) => {
      const producer = _model.tensorProducer[tensor];
      return producer >= 0
        ? stepOf[producer]
        : _model.tensorKind[tensor] === TENSOR_KIND.input
          ? -1
          : -2;
    });
    this._owner = Int32Array.from({ length: tensorCount }, (_, id) => id);
    const intervals = Object.entries(_timeline.tensor_memory)
      .map(([tensor, owner]) => [Number(tensor), owner])
      .filter(([tensor]) => tensor >= 0 && tensor < tensorCount);
    // In order of production, so that the owner of an owner is already known.
    intervals.sort(([a], [b]) => this._first[a] - this._first[b] || a - b);
    for (const [tensor, owner] of intervals) {
      this._owner[tensor] = this._owner[owner] ?? tensor;
    }
  }

  /** Buffers in use at a step, largest first; linear in the number of tensors. */
  at(step: number): ILiveTensor[] {
    const { tensor_last: last } = this._timeline;
    const buffers = new Map<number, { tensor: number; sharing: number }>();
    for (let tensor = 0; tensor < this._first.length; tensor++) {
      const first = this._first[tensor];
      if (first < -1 || first > step || !(last[tensor] >= step)) {
        continue;
      }
      const owner = this._owner[tensor];
      const buffer = buffers.get(owner);
      if (buffer === undefined) {
        buffers.set(owner, { tensor, sharing: 1 });
      } else {
        buffer.sharing++;
        buffer.tensor =
          first >= this._first[buffer.tensor] ? tensor : buffer.tensor;
      }
    }
    return [...buffers]
      .map(([owner, buffer]) => ({
        ...buffer,
        bytes: tensorBytes(this._model, owner)
      }))
      .sort((a, b) => (b.bytes ?? 0) - (a.bytes ?? 0));
  }

  /**
   * The memory curves for the model's shapes, computed as in the analysis. Null if a size is unknown or a
   * node has subgraphs, whose own peaks do not follow from lifetimes. Linear in tensors and steps.
   */
  curves(): IMemoryCurves | null {
    const { node, body_step: bodies, tensor_last: last } = this._timeline;
    const simple = new Float64Array(node.length + 1);
    const inplace = new Float64Array(node.length + 1);
    const buffers = new Map<number, { from: number; to: number }>();
    let inputs = 0;
    for (let tensor = 0; tensor < this._first.length; tensor++) {
      const from = this._first[tensor];
      const to = Math.min(last[tensor], node.length - 1);
      if (from < -1 || !(to >= from)) {
        continue;
      }
      const bytes = tensorBytes(this._model, tensor);
      if (bytes === null) {
        return null;
      }
      inputs += from < 0 ? bytes : 0;
      if (to < 0) {
        continue;
      }
      span(simple, from, to, bytes);
      const owner = this._owner[tensor];
      const buffer = buffers.get(owner) ?? { from, to };
      buffers.set(owner, {
        from: Math.min(buffer.from, from),
        to: Math.max(buffer.to, to)
      });
    }
    for (const [owner, { from, to }] of buffers) {
      span(inplace, from, to, tensorBytes(this._model, owner) ?? 0);
    }
    return bodies.length > 0
      ? null
      : { simple: runningSums(simple), inplace: runningSums(inplace), inputs };
  }
}

/** Running sums of the changes, without the entry after the last step. */
function runningSums(changes: Float64Array): number[] {
  let sum = 0;
  return Array.from(changes.subarray(0, -1), change => (sum += change));
}

/** Live bytes at each step. */
export interface IMemoryCurves {
  /** Every output has its own buffer. */
  readonly simple: number[];
  /** With views and in-place reuse. */
  readonly inplace: number[];
  /** Bytes of the graph inputs, live before the first step. */
  readonly inputs: number;
}

/** Adds the bytes of a tensor that is live from one step to another. */
function span(changes: Float64Array, from: number, to: number, bytes: number) {
  changes[Math.max(0, from)] += bytes;
  changes[to + 1] -= bytes;
}

/** Index of the first largest value; -1 for an empty list. */
export function indexOfPeak(values: readonly number[]): number {
  return values.reduce(
    (best, value, step) => (best < 0 || value > values[best] ? step : best),
    -1
  );
}
