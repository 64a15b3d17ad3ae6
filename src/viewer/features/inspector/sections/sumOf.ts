import { Tally } from '../../../../core/model/metricSums';
import type { IGraphModel, MetricId } from '../../../../core/types';

/** Sum of a metric over nodes; unknown values are not included but counted. */
export function sumOf(
  model: IGraphModel,
  nodes: readonly number[],
  metric: MetricId
): Pick<Tally, 'known' | 'unknown'> {
  const tally = new Tally(model, metric);
  nodes.forEach(node => tally.add(node));
  return tally;
}
