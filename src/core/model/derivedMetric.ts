/** Metrics computed from columns: sums, and quotients of sums. */

import type { IMetric, StoredMetric } from '../../schema/metrics';

/**
 * The derived metric, or NaN if one of its columns is unknown. 0 divided by 0 is 0: a node that neither
 * moves nor computes anything (a view) has no intensity.
 */
export function derivedOf(
  { over = [], under }: Pick<IMetric, 'over' | 'under'>,
  valueOf: (id: StoredMetric) => number
): number {
  const sum = (ids: readonly StoredMetric[]): number =>
    ids.reduce((total, id) => total + valueOf(id), 0);
  const above = sum(over);
  if (!under) {
    return above;
  }
  const below = sum(under);
  return below > 0 ? above / below : below === 0 && above === 0 ? 0 : NaN;
}
