/** Stroke widths of wires, for the screen and for exports. */
import { edgeWidth } from './wirePath';
import { detailKey } from '../style/levelOfDetail';

/**
 * Stroke width at zoom `k`, in world units. At low zoom wires are drawn bolder, or they would fade; on
 * the screen the style sheet does the same by `data-detail`.
 */
export function wireWidth(weight: number, k: number): number {
  return { 1: 2.8, 2: 2.1 }[detailKey(k)] ?? edgeWidth(weight);
}
