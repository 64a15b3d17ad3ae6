/** Which tensors are alive while a node runs. */

import { TENSOR_KIND } from '../../core';
import type { IGraphModel } from '../../core/types';
import type { TimelineColumns } from '../../schema';
import { tensorBytes } from '../inspector/bytes';

/** A piece of memory in use. */
export interface IAlive {
  /** The tensor in it that was made last. */
  readonly tensor: number;
  /** Size of the memory; null when unknown. */
  readonly bytes: number | null;
  /** Living tensors that share it. */
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
    const taken = Object.entries(_timeline.tensor_memory)
      .map(([tensor, owner]) => [Number(tensor), owner])
      .filter(([tensor]) => tensor >= 0 && tensor < tensorCount);
    // In the order they were made, so that an owner's owner is known.
    taken.sort(([a], [b]) => this._first[a] - this._first[b] || a - b);
    for (const [tensor, owner] of taken) {
      this._owner[tensor] = this._owner[owner] ?? tensor;
    }
  }

  /** Pieces of memory in use at a step, largest first; linear in the number of tensors. */
  at(step: number): IAlive[] {
    const { tensor_last: last } = this._timeline;
    const pieces = new Map<number, { tensor: number; sharing: number }>();
    for (let tensor = 0; tensor < this._first.length; tensor++) {
      const first = this._first[tensor];
      if (first < -1 || first > step || !(last[tensor] >= step)) {
        continue;
      }
      const owner = this._owner[tensor];
      const piece = pieces.get(owner);
      if (piece === undefined) {
        pieces.set(owner, { tensor, sharing: 1 });
      } else {
        piece.sharing++;
        piece.tensor =
          first >= this._first[piece.tensor] ? tensor : piece.tensor;
      }
    }
    return [...pieces]
      .map(([owner, piece]) => ({
        ...piece,
        bytes: tensorBytes(this._model, owner)
      }))
      .sort((a, b) => (b.bytes ?? 0) - (a.bytes ?? 0));
  }
}

/** The first place of the largest value, -1 for an empty list. */
export function peakOf(values: readonly number[]): number {
  return values.reduce(
    (best, value, at) => (best < 0 || value > values[best] ? at : best),
    -1
  );
}
