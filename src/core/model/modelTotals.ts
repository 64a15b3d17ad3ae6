/** Totals of a model, by the one table of metrics. */

import type { GraphPayload } from '../../schema';
import { METRICS, type TotalMetric } from '../../schema/metrics';

export interface ITotalValue {
  /** Null where it is unknown. */
  readonly value: number | null;
  /** Parts without a known number are left out: a lower bound. */
  readonly partial: boolean;
  /** Why it is unknown, where the payload says it. */
  readonly reason?: string;
}

export function totalOf(
  { metrics, coverage }: GraphPayload,
  id: TotalMetric
): ITotalValue {
  const { field, covered, reason } = METRICS[id].total ?? {};
  const share = covered === undefined ? 1 : (coverage[covered] ?? 1);
  return {
    value: (field && metrics[field]) ?? null,
    partial: share < 1,
    reason: reason && metrics[reason]
  };
}
