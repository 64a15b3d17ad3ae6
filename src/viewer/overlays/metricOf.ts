import type { ITree, MetricId } from '../../core/types';

/**
 * A metric of a node, or its sum over a group. NaN if unknown: for a group, if no node below has a value,
 * or only values that add nothing to it.
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
  const sum = tree.groupMetrics[metric][group];
  const unknown = tree.groupUnknown[metric][group];
  return unknown > 0 && sum === 0 ? Number.NaN : sum;
}

/** True for the sum of a group in which the value of a node is missing: a lower bound. */
export function lacksParts(
  tree: ITree,
  metric: string,
  entity: number
): boolean {
  const group = entity - tree.model.nodeCount;
  const unknown = tree.groupUnknown[metric as MetricId] as
    Int32Array | undefined;
  return group >= 0 && unknown !== undefined && unknown[group] > 0;
}
