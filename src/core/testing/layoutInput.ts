import type { ILayoutInput } from '../layout/layered/layoutTypes';

/** A plain graph as layout input: no pins, wires at the centres, one trunk per source. */
export function simpleInput(
  width: ArrayLike<number>,
  height: ArrayLike<number>,
  source: ArrayLike<number>,
  target: ArrayLike<number>
): ILayoutInput {
  return {
    itemCount: width.length,
    width: Float64Array.from(width),
    height: Float64Array.from(height),
    pin: new Int8Array(width.length),
    importance: new Float64Array(width.length).fill(1),
    source: Int32Array.from(source),
    target: Int32Array.from(target),
    sourceOffset: new Float64Array(source.length),
    targetOffset: new Float64Array(source.length),
    trunk: new Int32Array(source.length)
  };
}
