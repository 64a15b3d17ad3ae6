/** Upgrades payloads saved by an earlier version. */

import type { GraphPayload } from '../../schema';
import { EXECUTION_COSTS } from './executionCounts';

type FormerNodeColumns = GraphPayload['nodes'];

/** The columns from before costs were those of one execution. */
interface IFormerColumns extends Omit<
  FormerNodeColumns,
  'runs' | 'runs_unknown' | 'uncounted' | 'settings'
> {
  readonly repeat?: Record<string, number | null>;
  readonly settings?: FormerNodeColumns['settings'];
}

/**
 * Returns the payload with costs of one execution. For models with loops, drops the expressions, which
 * were those of one inference.
 */
export function upgradePayload(payload: GraphPayload): GraphPayload {
  const former = payload.nodes as IFormerColumns;
  const { settings = {} } = former;
  if (former.repeat === undefined) {
    return former.settings
      ? payload
      : { ...payload, nodes: { ...payload.nodes, settings } };
  }
  const { repeat, ...columns } = former;
  const entries = Object.entries(repeat).flatMap(([node, runs]) =>
    runs === null ? [] : [[node, runs] as const]
  );
  const costs = EXECUTION_COSTS.map(metric => {
    const column = [...columns[metric]];
    for (const [node, runs] of entries) {
      const total = column[Number(node)];
      column[Number(node)] = total === null ? null : total / (runs || 1);
    }
    return [metric, column] as const;
  });
  const nodes: FormerNodeColumns = {
    ...columns,
    settings,
    ...Object.fromEntries(costs),
    runs: Object.fromEntries(entries),
    runs_unknown: Object.entries(repeat)
      .filter(([, count]) => count === null)
      .map(([node]) => Number(node)),
    uncounted: []
  };
  const loops = Object.keys(repeat).length > 0;
  const expressions =
    loops || !payload.expressions ? null : { ...payload.expressions, runs: {} };
  return { ...payload, nodes, expressions };
}
