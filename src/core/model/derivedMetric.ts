/** Numbers that are computed from columns: sums of them, and quotients of sums. */

import type { IMetric, StoredMetric } from '../../schema/metrics';

/**
 * The number, from those of the columns; NaN when one of them is unknown. 0 by 0 is 0: what moves nothing and
 * computes nothing (a view) has no intensity.
 */
export function derivedOf(
  { over = [], under }: Pick<IMetric, 'over' | 'under'>,
  part: (id: StoredMetric) => number
): number {
  const sum = (ids: readonly StoredMetric[]): number =>
    ids.reduce((total, id) => total + part(id), 0);
  const above = sum(over);
  if (!under) {
    return above;
  }
  const below = sum(under);
  return below > 0 ? above / below : below === 0 && above === 0 ? 0 : NaN;
}
