/**
 * Looking at one part of a repeat: "LlamaDecoderLayer ×32" open with its third part alone. There is no
 * state for it besides what is hidden: a repeat shows one part when all its others are hidden.
 */

import { selfAndAncestors } from './hiddenEntities';
import type { ITree } from '../types';

/** A repeat and the place of one of its parts. */
export interface IRepeatPart {
  /** Group id of the box around the parts. */
  readonly repeatGroup: number;
  /** Place among the parts; -1 = the repeat itself. */
  readonly index: number;
}

/** The parts of a repeat, as entities. */
export function partsOf(tree: ITree, fold: number): Int32Array {
  return tree.children[fold + 1];
}

/** The innermost repeat that is the entity or holds it; null when there is none. */
export function partAt(tree: ITree, entity: number): IRepeatPart | null {
  const { nodeCount } = tree.model;
  let below = -1;
  for (const one of selfAndAncestors(tree, entity)) {
    const group = one - nodeCount;
    if (group >= 0 && tree.groupFold[group]) {
      const index = below < 0 ? -1 : partsOf(tree, group).indexOf(below);
      return { repeatGroup: group, index };
    }
    below = one;
  }
  return null;
}

/** Group id of the repeat that the entity is a part of, -1 when it is none. */
function repeatAround(tree: ITree, entity: number): number {
  const { nodeCount } = tree.model;
  const fold =
    entity < nodeCount
      ? tree.nodeParent[entity]
      : tree.groupParent[entity - nodeCount];
  return fold >= 0 && tree.groupFold[fold] ? fold : -1;
}

/** The repeat that the entity is a part of; null when it is none. */
export function partOf(tree: ITree, entity: number): IRepeatPart | null {
  const repeatGroup = repeatAround(tree, entity);
  return repeatGroup < 0
    ? null
    : { repeatGroup, index: partsOf(tree, repeatGroup).indexOf(entity) };
}

/** The place of the only part of a repeat that is not hidden; -1 when none or several are shown. */
export function soloPart(
  tree: ITree,
  fold: number,
  isHidden: (entity: number) => boolean
): number {
  let chosen = -1;
  const parts = partsOf(tree, fold);
  for (let index = 0; index < parts.length; index++) {
    if (!isHidden(parts[index])) {
      if (chosen >= 0) {
        return -1;
      }
      chosen = index;
    }
  }
  return parts.length > 1 ? chosen : -1;
}

/** What to hide so that a repeat shows this part alone, all its parts for -1; other things stay hidden. */
export function withPart(
  tree: ITree,
  hidden: Iterable<number>,
  { repeatGroup, index }: IRepeatPart
): number[] {
  const parts = partsOf(tree, repeatGroup);
  const own = new Set(parts);
  const kept = [...hidden].filter(entity => !own.has(entity));
  return index < 0 ? kept : [...kept, ...parts.filter((_, i) => i !== index)];
}

/** Hidden entities but for the parts that stand aside while another one is looked at. */
export function userHidden(
  tree: ITree,
  hidden: readonly number[]
): readonly number[] {
  const all = new Set(hidden);
  const aside = new Map<number, boolean>();
  const standsAside = (entity: number): boolean => {
    const fold = repeatAround(tree, entity);
    if (fold < 0) {
      return false;
    }
    const known =
      aside.get(fold) ?? soloPart(tree, fold, one => all.has(one)) >= 0;
    aside.set(fold, known);
    return known;
  };
  return hidden.filter(entity => !standsAside(entity));
}

/** Groups below an entity, itself first: pre-order makes them the ids after it. */
function groupsFrom(tree: ITree, entity: number): number {
  const first = entity - tree.model.nodeCount;
  let end = first + 1;
  while (
    end < tree.groupCount &&
    tree.groupDepth[end] > tree.groupDepth[first]
  ) {
    end++;
  }
  return end - first;
}

/**
 * The entity that stands in one part where `entity` stands in another. The parts of a repeat are alike
 * in their nodes; where their blocks differ, it is the part itself.
 */
export function correspondingEntity(
  tree: ITree & {
    readonly nodeOrder: Int32Array;
    readonly nodePlace: Int32Array;
    readonly groupStart: Int32Array;
  },
  entity: number,
  from: number,
  to: number
): number {
  const { nodeCount } = tree.model;
  const [a, b] = [from - nodeCount, to - nodeCount];
  if (a < 0 || b < 0 || tree.groupSize[a] !== tree.groupSize[b]) {
    return to;
  }
  if (entity < nodeCount) {
    const offset = tree.nodePlace[entity] - tree.groupStart[a];
    const found = tree.nodeOrder[tree.groupStart[b] + offset];
    return tree.model.nodeOp[found] === tree.model.nodeOp[entity] ? found : to;
  }
  return groupsFrom(tree, from) === groupsFrom(tree, to)
    ? to + (entity - from)
    : to;
}
