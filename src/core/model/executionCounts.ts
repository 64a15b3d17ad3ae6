/**
 * Executions of nodes, and their costs per inference. Payloads hold costs of one execution; this is the
 * only module that multiplies them.
 */

import type { GraphPayload } from '../../schema';
import {
  METRICS,
  type AnyMetric,
  type ExecutionMetric
} from '../../schema/metrics';

type RunColumns = GraphPayload['nodes'];

export function isExecutionCost(metric: AnyMetric): metric is ExecutionMetric {
  return METRICS[metric].stored === 'execution';
}

/** Costs that a payload holds for one execution. */
export const EXECUTION_COSTS = (Object.keys(METRICS) as AnyMetric[]).filter(
  isExecutionCost
);

/**
 * Runs of a node per inference, as counted in the totals: loops of unknown length count as one iteration.
 */
export function executionsOf({ runs }: RunColumns, node: number): number {
  return Object.hasOwn(runs, String(node)) ? runs[String(node)] : 1;
}

/**
 * Converts costs by node from one execution to one inference, in place. Branches excluded from the totals
 * become NaN.
 */
export function perInference(
  nodes: RunColumns,
  costs: Float64Array
): Float64Array {
  for (const [node, runs] of Object.entries(nodes.runs)) {
    costs[Number(node)] *= runs;
  }
  for (const node of nodes.uncounted) {
    costs[node] = Number.NaN;
  }
  return costs;
}
