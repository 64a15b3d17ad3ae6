/** The stages of a model: the boxes that share the work, with outer boxes expanded. */

import type { ITree, MetricId } from '../../core/types';

const MAX_STAGES = 12;
/** A box with a larger share is expanded if that adds few rows. */
const OPEN_ABOVE_SHARE = 0.6;
/** Minimum share of a stage. */
const MIN_STAGE_SHARE = 0.005;

export interface IStage {
  readonly entity: number;
  /** Share of the total, between 0 and 1. */
  readonly share: number;
}

/** Blocks and nodes in graph order, with the heaviest ones expanded. */
export function stagesOf(tree: ITree, metric: MetricId): IStage[] {
  const { nodeCount, metrics } = tree.model;
  const weight = (entity: number): number =>
    (entity < nodeCount
      ? metrics[metric][entity]
      : tree.groupMetrics[metric][entity - nodeCount]) || 0;
  const total = tree.children[0].reduce(
    (sum, entity) => sum + weight(entity),
    0
  );
  const below = (row: number): IStage[] =>
    Array.from(tree.children[row], entity => ({
      entity,
      share: weight(entity) / total
    })).filter(({ share }) => share > MIN_STAGE_SHARE);
  const stages = below(0);
  for (;;) {
    const index = stages.findIndex(
      ({ share, entity }) => share > OPEN_ABOVE_SHARE && entity >= nodeCount
    );
    const group = index < 0 ? -1 : stages[index].entity - nodeCount;
    const inner = group < 0 ? [] : below(group + 1);
    if (
      inner.length === 0 ||
      tree.groupIsRepeat[group] === 1 ||
      stages.length + inner.length - 1 > MAX_STAGES
    ) {
      return stages;
    }
    stages.splice(index, 1, ...inner);
  }
}
