import type { ITree, MetricId } from '../../core/types';

/**
 * A metric of a node, or its sum over a group. NaN when unknown: for a group, when no node below has
 * a number.
 */
export function metricOf(
  tree: ITree,
  metric: MetricId,
  entity: number
): number {
  const { nodeCount } = tree.model;
  if (entity < nodeCount) {
    return tree.model.metrics[metric][entity];
  }
  const group = entity - nodeCount;
  return tree.groupUnknown[metric][group] >= tree.groupSize[group]
    ? Number.NaN
    : tree.groupMetrics[metric][group];
}
