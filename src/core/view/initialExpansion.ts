/** Decides what the first picture opens. */

import { partsOf, withPart } from '../tree/repeatParts';
import type { IGroupTree } from '../tree/treeTypes';

/** Up to so many boxes a picture tells too little without a look into a repeat. */
const MIN_BOXES_UNOPENED = 3;

/**
 * Up to so many boxes say too little to keep alike blocks alike. A family that then adds more than twice
 * as many is opened in two steps, its largest first: the pane may have room for that.
 */
const MIN_BOXES_PER_FAMILY = 8;

/** The first picture. */
export interface IInitialExpansion {
  /** By group: 1 = open. */
  readonly open: Uint8Array;
  /** Parts of repeats that are left out: an open repeat shows its first one. */
  readonly hidden: readonly number[];
}

/**
 * Groups that look alike to a reader: same depth and class, or label but for its numbers and what stands
 * behind it to tell it apart (`Stage 13×13 · 96 channels`).
 */
function familyKey(tree: IGroupTree, group: number): string {
  const label = tree.groupLabel[group].split(' · ')[0].replace(/\d+/g, '#');
  const type = tree.groupType[group];
  const fold = tree.groupIsRepeat[group];
  return `${tree.groupDepth[group]}|${fold}|${type || label}`;
}

/** Closed groups in the open part of the tree that may open, alike ones together. */
function families(
  tree: IGroupTree,
  open: Uint8Array,
  hidden: ReadonlySet<number>
): number[][] {
  const byLikeness = new Map<string, number[]>();
  const { nodeCount } = tree.model;
  const rows = [-1];
  while (rows.length > 0) {
    const row = rows.pop() as number;
    for (const entity of tree.children[row + 1]) {
      const group = entity - nodeCount;
      if (group < 0 || hidden.has(entity) || tree.groupIsPreparation[group]) {
        continue;
      }
      if (open[group]) {
        rows.push(group);
        continue;
      }
      const key = familyKey(tree, group);
      const family = byLikeness.get(key);
      if (family) {
        family.push(group);
      } else {
        byLikeness.set(key, [group]);
      }
    }
  }
  return [...byLikeness.values()];
}

/** The part of a repeat that is shown first, as a group; -1 for a node and for all that is no repeat. */
function firstPart(tree: IGroupTree, group: number): number {
  const [first = -1] = tree.groupIsRepeat[group] ? partsOf(tree, group) : [];
  return first < tree.model.nodeCount ? -1 : first - tree.model.nodeCount;
}

/**
 * Boxes that opening the groups adds; a repeat gives its place to one of its parts, which opens with it
 * unless it is `alone`.
 */
function addedBoxes(
  tree: IGroupTree,
  family: readonly number[],
  alone: boolean
): number {
  const inside = (group: number) =>
    group < 0 ? 0 : tree.children[group + 1].length - 1;
  return family.reduce(
    (sum, group) =>
      sum +
      (tree.groupIsRepeat[group]
        ? inside(alone ? -1 : firstPart(tree, group))
        : inside(group)),
    0
  );
}

const size = (tree: IGroupTree, family: readonly number[]) =>
  family.reduce((sum, group) => sum + tree.groupSize[group], 0);

/**
 * No weights beyond single numbers and no arithmetic: masks, shapes, rearranged data. Loops and branches
 * always tell something.
 */
function isPlumbing(tree: IGroupTree, family: readonly number[]): boolean {
  const { groupBody, groupControl, groupMetrics, groupSize, groupUnknown } =
    tree;
  return family.every(
    group =>
      groupBody[group] < 0 &&
      groupControl[group] < 0 &&
      groupMetrics.params[group] <= groupSize[group] &&
      groupMetrics.macs[group] === 0 &&
      groupUnknown.macs[group] === 0
  );
}

/** The groups to open next, and how many boxes that adds; undefined when the picture is done. */
function nextFamily(
  tree: IGroupTree,
  closed: readonly (readonly number[])[],
  visible: number,
  budget: number
): { family: readonly number[]; cost: number } | undefined {
  const fitting = (
    choices: readonly (readonly number[])[],
    withFolds: boolean
  ) =>
    choices
      .map(family => ({
        family,
        cost: addedBoxes(tree, family, visible <= MIN_BOXES_UNOPENED),
        depth: tree.groupDepth[family[0]],
        fold: tree.groupIsRepeat[family[0]],
        size: size(tree, family)
      }))
      .filter(({ cost }) => visible === 1 || visible + cost <= budget)
      .filter(({ fold }) => !fold || withFolds)
      .filter(
        ({ family }) =>
          visible <= MIN_BOXES_UNOPENED || !isPlumbing(tree, family)
      )
      .sort((a, b) => a.fold - b.fold || a.depth - b.depth || b.size - a.size);
  const chosen = (withFolds: boolean) => {
    const [whole] = fitting(closed, withFolds);
    if (
      visible > MIN_BOXES_PER_FAMILY ||
      whole?.cost <= 2 * MIN_BOXES_PER_FAMILY
    ) {
      return whole;
    }
    const singles = (whole?.family ?? closed.flat()).map(group => [group]);
    const [one] = fitting(singles, withFolds);
    return one;
  };
  // The parts of a repeat tell nothing new, but where there is little else to see.
  return (
    chosen(visible <= MIN_BOXES_UNOPENED) ??
    (visible <= MIN_BOXES_PER_FAMILY ? chosen(true) : undefined)
  );
}

/** One picture on the way from a closed model to the most that may be open. */
export interface IExpansionStep extends IInitialExpansion {
  /** Boxes to see. */
  readonly visible: number;
  /** What was opened for it carries little of the model's arithmetic. */
  readonly lowCost: boolean;
}

/** A share of the MACs below which a look inside can wait. */
const LOW_COST_SHARE = 0.05;

/**
 * Opens a lone trunk whatever its size, then families of alike groups, shallow and big ones first, while
 * at most `budget` cards are visible. A family opens as a whole, so that alike blocks look alike; only
 * where nothing else would be left to see, or all of it is much at once, one of it does first. What holds no weights and no arithmetic stays
 * closed, and repeats stay one box; where the picture would hold little else, they show their first part.
 * The pictures on the way, from closed on.
 */
export function expansionSteps(
  tree: IGroupTree,
  budget: number
): IExpansionStep[] {
  const open = new Uint8Array(tree.groupCount);
  let hidden: readonly number[] = [];
  let visible = tree.children[0].length;
  const steps: IExpansionStep[] = [];
  const all = tree.model.metrics.macs.reduce((sum, x) => sum + (x || 0), 0);
  let lowCost = false;
  for (;;) {
    steps.push({ open: open.slice(), hidden, visible, lowCost });
    const closed = families(tree, open, new Set(hidden));
    const chosen = nextFamily(tree, closed, visible, budget);
    if (!chosen) {
      return steps;
    }
    for (const group of chosen.family) {
      open[group] = 1;
      if (tree.groupIsRepeat[group]) {
        hidden = withPart(tree, hidden, { repeatGroup: group, index: 0 });
        const part = firstPart(tree, group);
        if (part >= 0 && visible > MIN_BOXES_UNOPENED) {
          open[part] = 1;
        }
      }
    }
    visible += chosen.cost;
    const macs = chosen.family.map(group => tree.groupMetrics.macs[group]);
    lowCost = macs.reduce((sum, x) => sum + x, 0) < LOW_COST_SHARE * all;
  }
}
