/** Bytes of tensors as a device moves them: floats at the width of its precision, others at their own. */

import { BITS, tensorBytes } from '../model/tensorBytes';
import { TENSOR_KIND } from '../model/decodePayload';
import type { IGraphModel } from '../types';

/** What a runtime converts to its precision; smaller floats stay what they are. */
const FLOAT = /^(float(16|32|64)?|bfloat16|double)$/;

/** Elements of every shape of the payload; NaN where a dimension is unknown. */
export function shapeElements(model: IGraphModel): Float64Array {
  return Float64Array.from(model.payload.shapes, shape => {
    let elements = shape ? 1 : Number.NaN;
    for (const dim of shape ?? []) {
      elements *= typeof dim === 'number' ? dim : Number.NaN;
    }
    return elements;
  });
}

/** Sizes of tensors, asked for by id; NaN when unknown. */
export class TensorBytes {
  private readonly _elements: Float64Array;
  /** Bits of an element by type. */
  private readonly _bits: Float64Array;

  constructor(
    private readonly _model: IGraphModel,
    /** Bytes of an element of a float tensor. */
    width: number
  ) {
    this._elements = shapeElements(_model);
    this._bits = Float64Array.from(_model.payload.dtypes, dtype => {
      const name = dtype.toLowerCase();
      return FLOAT.test(name) ? 8 * width : (BITS.get(name) ?? Number.NaN);
    });
  }

  /** `dims` are sizes of symbols. */
  elements(tensor: number, dims?: ReadonlyMap<string, number>): number {
    const { payload } = this._model;
    const { shape } = payload.tensors;
    if (dims) {
      const sizes = payload.shapes[shape[tensor]];
      return (sizes ?? [Number.NaN]).reduce<number>(
        (product, dim) =>
          product *
          (typeof dim === 'string'
            ? (dims.get(dim) ?? Number.NaN)
            : Number(dim ?? Number.NaN)),
        1
      );
    }
    return this._elements[shape[tensor] ?? -1] ?? Number.NaN;
  }

  bytes(tensor: number, dims?: ReadonlyMap<string, number>): number {
    const { dtype } = this._model.payload.tensors;
    const bits = this._bits[dtype[tensor] ?? -1] ?? Number.NaN;
    return Math.ceil((this.elements(tensor, dims) * bits) / 8);
  }

  /** True for what is converted to the precision. */
  isFloat(tensor: number): boolean {
    return FLOAT.test(this._model.dtypeText(tensor).toLowerCase());
  }

  isWeight(tensor: number): boolean {
    const kind = this._model.tensorKind[tensor];
    return kind === TENSOR_KIND.initializer || kind === TENSOR_KIND.constant;
  }
}

/** On top of weights and activations; runtimes differ, and so do the algorithms that they pick. */
const WORKSPACE = 1.1;

/**
 * What a model needs of a device's memory: weights and the peak of live activations at the width of the
 * precision, and a tenth; NaN where it is unknown.
 */
export function requiredBytes(model: IGraphModel, bytes: TensorBytes): number {
  const peak = model.payload.metrics.peak_activation_bytes ?? Number.NaN;
  let [weights, stored, converted] = [0, 0, 0];
  for (let tensor = 0; tensor < model.tensorCount; tensor++) {
    const size = bytes.bytes(tensor);
    const own = tensorBytes(model, tensor) ?? Number.NaN;
    if (bytes.isWeight(tensor)) {
      weights += bytes.isFloat(tensor) ? size : size || 0;
    } else if (!Number.isNaN(own + size)) {
      stored += own;
      converted += size;
    }
  }
  // Which tensors make the peak depends on their order, not on their width: it shrinks as all of them do.
  const activations =
    stored > 0 ? Math.floor((peak * converted) / stored) : peak;
  return Math.floor((weights + activations) * WORKSPACE);
}
