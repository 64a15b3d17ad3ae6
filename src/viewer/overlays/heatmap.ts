import { derivedOf } from '../../core/model/derivedMetric';
import type { ITree, MetricId } from '../../core/types';
import { METRICS, type HeatmapMetric } from '../../schema/metrics';
import { deviceLabel } from './latency';
import { lacksParts, metricOf } from './metric';
import type { IOverlayDefinition } from './types';

/** A column of a tree, NaN where a sum lacks parts: a quotient of it is not a bound on anything. */
function whole(tree: ITree, id: MetricId, entity: number): number {
  return lacksParts(tree, id, entity) ? Number.NaN : metricOf(tree, id, entity);
}

/** The heatmap of a metric, as the one table of metrics describes it. */
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
    // Of a group it is made of its sums.
    value: metric.over
      ? (tree, entity) => derivedOf(metric, part => whole(tree, part, entity))
      : (tree, entity) => metricOf(tree, id as MetricId, entity),
    ...(metric.device && {
      about: ({ model }: ITree) => deviceLabel(model),
      available: ({ model }: ITree) => model.latency !== null
    })
  };
}
