/** Totals of a model, from the shared table of metrics. */

import type { GraphPayload } from '../../schema';
import { METRICS, type TotalMetric } from '../../schema/metrics';

export interface ITotalValue {
  /** Null if unknown. */
  readonly value: number | null;
  /** A lower bound: nodes with unknown values are not included. */
  readonly partial: boolean;
  /** Why it is unknown, if the payload gives a reason. */
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
