/**
 * Sums of node metrics, by the same rules wherever a sum is shown: boxes, tables, charts and inspectors.
 *
 * The branch of an If that the totals exclude does not make a sum incomplete. A loop of unknown length
 * counts as one iteration, which makes its sums a lower bound.
 */

import { isExecutionCost } from './executionCounts';
import {
  NODE_RUNS,
  type IGraphModel,
  type ITree,
  type MetricId
} from '../types';

/** How a node contributes to a sum. */
export const PART_STATE = {
  /** Its number is complete. */
  known: 0,
  /** Its number is a lower bound. */
  lowerBound: 1,
  unknown: 2,
  /** Excluded from the totals. */
  excluded: 3
} as const;

export type PartState = (typeof PART_STATE)[keyof typeof PART_STATE];

export function partStateOf(
  model: IGraphModel,
  id: MetricId,
  node: number
): PartState {
  const runs = model.nodeRuns[node];
  const perRun = id === 'latency' || isExecutionCost(id);
  if (Number.isNaN(model.metrics[id][node])) {
    // In an excluded branch, even the cost of one execution may be unknown; the totals do report that.
    const isKnown =
      id === 'latency' || typeof storedValue(model, id, node) === 'number';
    return runs === NODE_RUNS.excluded && perRun && isKnown
      ? PART_STATE.excluded
      : PART_STATE.unknown;
  }
  const endless = runs === NODE_RUNS.unbounded && perRun;
  return endless && model.metrics[id][node] > 0
    ? PART_STATE.lowerBound
    : PART_STATE.known;
}

/** The value in the payload's column, for one execution. */
function storedValue(
  { payload }: IGraphModel,
  id: Exclude<MetricId, 'latency'>,
  node: number
): number | null | undefined {
  return payload.nodes[id][node];
}

/** A sum over some nodes. */
export class Tally {
  private _sum = 0;
  private _complete = 0;
  private _missing = 0;
  private _excluded = 0;

  constructor(
    private readonly _model: IGraphModel,
    private readonly _id: MetricId
  ) {}

  add(node: number): void {
    const state = partStateOf(this._model, this._id, node);
    if (state <= PART_STATE.lowerBound) {
      this._sum += this._model.metrics[this._id][node];
    }
    this._complete += state === PART_STATE.known ? 1 : 0;
    this._missing +=
      state === PART_STATE.lowerBound || state === PART_STATE.unknown ? 1 : 0;
    this._excluded += state === PART_STATE.excluded ? 1 : 0;
  }

  /** Sum of the known numbers. */
  get known(): number {
    return this._sum;
  }

  /**
   * Number of nodes whose value is missing or incomplete; excluded nodes count only if there are no
   * others.
   */
  get unknown(): number {
    return this._missing + (this._complete === 0 ? this._excluded : 0);
  }
}

export interface ISumColumns {
  /** Entry 0 is for all nodes, entry g + 1 for those below group g. */
  readonly sum: Float64Array;
  /** As `Tally.unknown`. */
  readonly unknown: Int32Array;
  /** Largest known value of a node; 0 if there is none. */
  readonly max: number;
}

/** Sums a metric over nodes and over their enclosing groups. Linear in nodes and groups. */
export function sumColumns(
  model: IGraphModel,
  id: MetricId,
  nodes: Iterable<number>,
  tree: Pick<ITree, 'groupCount' | 'groupParent' | 'nodeParent'>
): ISumColumns {
  const { groupCount, groupParent, nodeParent } = tree;
  const sum = new Float64Array(groupCount + 1);
  const [unknown, missing, complete] = [0, 1, 2].map(
    () => new Int32Array(groupCount + 1)
  );
  const values = model.metrics[id];
  let max = 0;
  for (const node of nodes) {
    const entry = nodeParent[node] + 1;
    const state = partStateOf(model, id, node);
    if (state <= PART_STATE.lowerBound) {
      sum[entry] += values[node];
      max = Math.max(max, values[node]);
    }
    if (state === PART_STATE.known) {
      complete[entry]++;
    } else if (state === PART_STATE.excluded) {
      missing[entry]++;
    } else {
      unknown[entry]++;
    }
  }
  for (let group = groupCount - 1; group >= 0; group--) {
    const above = groupParent[group] + 1;
    sum[above] += sum[group + 1];
    unknown[above] += unknown[group + 1];
    missing[above] += missing[group + 1];
    complete[above] += complete[group + 1];
  }
  for (let entry = 0; entry <= groupCount; entry++) {
    if (complete[entry] === 0) {
      unknown[entry] += missing[entry];
    }
  }
  return { sum, unknown, max };
}
