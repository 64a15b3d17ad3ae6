/**
 * How often a node runs, and what it costs in one inference. Payloads hold costs of one execution; this is the
 * only place that multiplies.
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

/** Costs of which a payload has those of one execution. */
export const EXECUTION_COSTS = (Object.keys(METRICS) as AnyMetric[]).filter(
  isExecutionCost
);

/** How often a node runs in one inference, as the totals take it: loops of unknown length as one iteration. */
export function executionsOf({ runs }: RunColumns, node: number): number {
  return Object.hasOwn(runs, String(node)) ? runs[String(node)] : 1;
}

/**
 * Turns costs of one execution, by node, into those of one inference, in place. Branches that the totals
 * leave out have none: NaN.
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
