import { derivedOf } from '../../core/model/derivedMetric';
import type { ITree, MetricId } from '../../core/types';
import { METRICS, type HeatmapMetric } from '../../schema/metrics';
import { deviceLabel } from './deviceLabel';
import { lacksParts, metricOf } from './metricOf';
import type { IOverlayDefinition } from './types';

/** A metric of a tree; NaN if a sum is incomplete, since a quotient of it is not a bound. */
function completeMetric(tree: ITree, id: MetricId, entity: number): number {
  return lacksParts(tree, id, entity) ? Number.NaN : metricOf(tree, id, entity);
}

/** The heatmap of a metric, as defined in the shared table of metrics. */
export function heatmapOf<Id extends HeatmapMetric>(
  id: Id
): IOverlayDefinition<Id> {
  const metric = METRICS[id];
  const { label, unit, ramp, additive } = metric;
  return {
    id,
    label,
    unit,
    ramp,
    additive,
    // For a group, it is derived from the group's sums.
    value: metric.over
      ? (tree, entity) =>
          derivedOf(metric, metricId => completeMetric(tree, metricId, entity))
      : (tree, entity) => metricOf(tree, id as MetricId, entity),
    ...(metric.device && {
      about: ({ model }: ITree) => deviceLabel(model),
      available: ({ model }: ITree) => model.latency !== null
    })
  };
}
