/**
 * Arithmetic intensity: FLOPs per byte of tensor traffic, unfused. What moves nothing and computes
 * nothing (a view) has 0; NaN when unknown.
 */
export function intensityOf(flops: number, bytes: number): number {
  return bytes > 0 ? flops / bytes : flops === 0 ? 0 : Number.NaN;
}
