/** Sizes of tensors in memory. */

import type { IGraphModel } from '../types';

/** Bits per element, by type name; packed types have fewer than 8. */
export const BITS: ReadonlyMap<string, number> = new Map(
  Object.entries({
    float: 32,
    float32: 32,
    double: 64,
    float64: 64,
    float16: 16,
    bfloat16: 16,
    complex64: 64,
    complex128: 128,
    int64: 64,
    uint64: 64,
    int32: 32,
    uint32: 32,
    int16: 16,
    uint16: 16,
    int8: 8,
    uint8: 8,
    bool: 8,
    int4: 4,
    uint4: 4,
    int2: 2,
    uint2: 2,
    float4e2m1: 4,
    float8e4m3fn: 8,
    float8e4m3fnuz: 8,
    float8e5m2: 8,
    float8e5m2fnuz: 8,
    float8e8m0: 8
  })
);

/** Bytes of a tensor in its stored type; null if a dimension is unknown or the type has no size. */
export function tensorBytes(model: IGraphModel, tensor: number): number | null {
  const { shapes, tensors } = model.payload;
  const shape = shapes[tensors.shape[tensor]];
  const bits = BITS.get(model.dtypeText(tensor).toLowerCase());
  if (!shape || bits === undefined) {
    return null;
  }
  let elements = 1;
  for (const dim of shape) {
    if (typeof dim !== 'number') {
      return null;
    }
    elements *= dim;
  }
  return Math.ceil((elements * bits) / 8);
}
