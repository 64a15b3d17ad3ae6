/** Decides which groups the initial view opens. */

import { partsOf, withPart } from '../tree/repeatParts';
import type { IGroupTree } from '../tree/treeTypes';

/** If the view has at most this many boxes, it also opens an instance of a repeat. */
const MIN_BOXES_UNOPENED = 3;

/**
 * Maximum number of boxes for similar blocks to be opened separately. A family that would more than
 * double a small view is opened in two steps, its largest block first, since the pane may have room for
 * that.
 */
const MIN_BOXES_PER_FAMILY = 8;

/** The initial view. */
export interface IInitialExpansion {
  /** By group: 1 if open. */
  readonly open: Uint8Array;
  /** Hidden instances of repeats: an open repeat shows its first one. */
  readonly hidden: readonly number[];
}

/**
 * Key of groups that look alike: same depth and class, or the same label apart from numbers and a
 * distinguishing suffix (`Stage 13×13 · 96 channels`).
 */
function familyKey(tree: IGroupTree, group: number): string {
  const label = tree.groupLabel[group].split(' · ')[0].replace(/\d+/g, '#');
  const type = tree.groupType[group];
  const fold = tree.groupIsRepeat[group];
  return `${tree.groupDepth[group]}|${fold}|${type || label}`;
}

/** Closed groups in the open part of the tree that may be opened, grouped by similarity. */
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

/** The first instance of a repeat, as a group; -1 if it is a node or the group is not a repeat. */
function firstPart(tree: IGroupTree, group: number): number {
  const [first = -1] = tree.groupIsRepeat[group] ? partsOf(tree, group) : [];
  return first < tree.model.nodeCount ? -1 : first - tree.model.nodeCount;
}

/**
 * Number of boxes that opening the groups adds; a repeat is replaced by one of its instances, which is
 * opened too unless it is `alone`.
 */
function addedBoxes(
  tree: IGroupTree,
  family: readonly number[],
  closed: boolean
): number {
  const inside = (group: number) =>
    group < 0 ? 0 : tree.children[group + 1].length - 1;
  return family.reduce(
    (sum, group) =>
      sum +
      (tree.groupIsRepeat[group]
        ? inside(closed ? -1 : firstPart(tree, group))
        : inside(group)),
    0
  );
}

const size = (tree: IGroupTree, family: readonly number[]) =>
  family.reduce((sum, group) => sum + tree.groupSize[group], 0);

/**
 * True without weights (beyond single numbers) and arithmetic: masks, shapes, rearranged data. Loops and
 * branches are always informative.
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

/** The groups to open next, and the number of boxes they add; undefined when finished. */
function nextFamily(
  tree: IGroupTree,
  closed: readonly (readonly number[])[],
  visible: number,
  budget: number,
  isSpare: boolean
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
  const chooseFamily = (withFolds: boolean) => {
    const [family] = fitting(closed, withFolds);
    if (
      visible > MIN_BOXES_PER_FAMILY ||
      family?.cost <= 2 * MIN_BOXES_PER_FAMILY
    ) {
      return family;
    }
    const singles = (family?.family ?? closed.flat()).map(group => [group]);
    const [best] = fitting(singles, withFolds);
    return best;
  };
  // Instances of a repeat add no information, unless there is little else to show.
  return (
    chooseFamily(visible <= MIN_BOXES_UNOPENED) ??
    (isSpare || visible <= MIN_BOXES_PER_FAMILY
      ? chooseFamily(true)
      : undefined)
  );
}

/** A step from the closed model to the fully expanded one. */
export interface IExpansionStep extends IInitialExpansion {
  /** Number of visible boxes. */
  readonly visible: number;
  /** True if the newly opened groups have little of the model's arithmetic. */
  readonly lowCost: boolean;
  /** True if it shows an instance of a repeat only because a large pane would stay mostly empty. */
  readonly isSpare?: boolean;
}

/** Maximum share of the MACs for a low-cost step. */
const LOW_COST_SHARE = 0.05;

/**
 * Opens a single top-level group whatever its size, then families of similar groups, shallow and large
 * ones first, as long as at most `budget` cards are visible. A family is opened as a whole, so that
 * similar blocks look alike; only if nothing else would be visible, or if the whole family adds many
 * boxes at once, one of it is opened first. Groups without weights and arithmetic stay closed, and
 * repeats stay one box, unless the graph would show little else: then they show their first instance.
 * Returns all steps, starting with the closed model. Spare steps come last and show such an instance in
 * any case.
 */
export function expansionSteps(
  tree: IGroupTree,
  budget: number
): IExpansionStep[] {
  const open = new Uint8Array(tree.groupCount);
  let hidden: readonly number[] = [];
  let visible = tree.children[0].length;
  const steps: IExpansionStep[] = [];
  const totalMacs = tree.model.metrics.macs.reduce(
    (sum, x) => sum + (x || 0),
    0
  );
  let lowCost = false;
  let isSpare = false;
  for (;;) {
    steps.push({ open: open.slice(), hidden, visible, lowCost, isSpare });
    const closed = families(tree, open, new Set(hidden));
    let next = nextFamily(tree, closed, visible, budget, isSpare);
    if (!next && !isSpare) {
      isSpare = true;
      next = nextFamily(tree, closed, visible, budget, isSpare);
    }
    if (!next) {
      return steps;
    }
    for (const group of next.family) {
      open[group] = 1;
      if (tree.groupIsRepeat[group]) {
        hidden = withPart(tree, hidden, { repeatGroup: group, index: 0 });
        const firstChild = firstPart(tree, group);
        if (firstChild >= 0 && visible > MIN_BOXES_UNOPENED) {
          open[firstChild] = 1;
        }
      }
    }
    visible += next.cost;
    const macs = next.family.map(group => tree.groupMetrics.macs[group]);
    lowCost = macs.reduce((sum, x) => sum + x, 0) < LOW_COST_SHARE * totalMacs;
  }
}
