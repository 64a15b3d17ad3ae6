/** Bytes of tensors on a device: floats at the width of its precision, other types at their own. */

import { BITS, tensorBytes } from '../model/tensorBytes';
import { TENSOR_KIND } from '../model/decodePayload';
import type { IGraphModel } from '../types';

/** Types that a runtime converts to its precision; smaller floats keep their type. */
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

/** Sizes of tensors by id; NaN if unknown. */
export class TensorBytes {
  private readonly _elements: Float64Array;
  /** Bits per element, by type. */
  private readonly _bits: Float64Array;

  constructor(
    private readonly _model: IGraphModel,
    /** Bytes per element of a float tensor. */
    width: number
  ) {
    this._elements = shapeElements(_model);
    this._bits = Float64Array.from(_model.payload.dtypes, dtype => {
      const name = dtype.toLowerCase();
      return FLOAT.test(name) ? 8 * width : (BITS.get(name) ?? Number.NaN);
    });
  }

  /** `dims` gives values for symbols. */
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

  /** True if the tensor is converted to the precision. */
  isFloat(tensor: number): boolean {
    return FLOAT.test(this._model.dtypeText(tensor).toLowerCase());
  }

  isWeight(tensor: number): boolean {
    const kind = this._model.tensorKind[tensor];
    return kind === TENSOR_KIND.initializer || kind === TENSOR_KIND.constant;
  }
}

/** Factor on top of weights and activations; it varies with the runtime and its choice of algorithms. */
const WORKSPACE = 1.1;

/**
 * Device memory that a model needs: weights and peak live activations at the width of the precision, plus
 * a tenth; NaN if unknown.
 */
export function requiredBytes(model: IGraphModel, bytes: TensorBytes): number {
  const peak = model.payload.metrics.peak_activation_bytes ?? Number.NaN;
  let [weights, stored, converted] = [0, 0, 0];
  for (let tensor = 0; tensor < model.tensorCount; tensor++) {
    const size = bytes.bytes(tensor);
    const storedBytes = tensorBytes(model, tensor) ?? Number.NaN;
    if (bytes.isWeight(tensor)) {
      weights += bytes.isFloat(tensor) ? size : size || 0;
    } else if (!Number.isNaN(storedBytes + size)) {
      stored += storedBytes;
      converted += size;
    }
  }
  // Execution order, not element width, decides which tensors are live at the peak: it shrinks as they
  // all do.
  const activations =
    stored > 0 ? Math.floor((peak * converted) / stored) : peak;
  return Math.floor((weights + activations) * WORKSPACE);
}
