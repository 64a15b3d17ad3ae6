/**
 * Shows a single instance of a repeat: "LlamaDecoderLayer ×32" expanded to its third instance. The hidden
 * entities are its only state: a repeat shows one instance if all the others are hidden.
 */

import { selfAndAncestors } from './hiddenEntities';
import type { ITree } from '../types';

/** A repeat and the index of one of its instances. */
export interface IRepeatPart {
  /** Group id of the box around the instances. */
  readonly repeatGroup: number;
  /** Index among the instances; -1 is the repeat itself. */
  readonly index: number;
}

/** The instances of a repeat, as entities. */
export function partsOf(tree: ITree, repeatGroup: number): Int32Array {
  return tree.children[repeatGroup + 1];
}

/** The innermost repeat that is or contains the entity; null if there is none. */
export function partAt(tree: ITree, entity: number): IRepeatPart | null {
  const { nodeCount } = tree.model;
  let below = -1;
  for (const ancestor of selfAndAncestors(tree, entity)) {
    const group = ancestor - nodeCount;
    if (group >= 0 && tree.groupIsRepeat[group]) {
      const index = below < 0 ? -1 : partsOf(tree, group).indexOf(below);
      return { repeatGroup: group, index };
    }
    below = ancestor;
  }
  return null;
}

/** Group id of the repeat whose instance the entity is; -1 if it is not one. */
function repeatAround(tree: ITree, entity: number): number {
  const { nodeCount } = tree.model;
  const repeatGroup =
    entity < nodeCount
      ? tree.nodeParent[entity]
      : tree.groupParent[entity - nodeCount];
  return repeatGroup >= 0 && tree.groupIsRepeat[repeatGroup] ? repeatGroup : -1;
}

/** The repeat whose instance the entity is; null if it is not one. */
export function partOf(tree: ITree, entity: number): IRepeatPart | null {
  const repeatGroup = repeatAround(tree, entity);
  return repeatGroup < 0
    ? null
    : { repeatGroup, index: partsOf(tree, repeatGroup).indexOf(entity) };
}

/** Index of the only instance of a repeat that is not hidden; -1 if none or several are shown. */
export function soloPart(
  tree: ITree,
  repeatGroup: number,
  isHidden: (entity: number) => boolean
): number {
  let solo = -1;
  const parts = partsOf(tree, repeatGroup);
  for (let index = 0; index < parts.length; index++) {
    if (!isHidden(parts[index])) {
      if (solo >= 0) {
        return -1;
      }
      solo = index;
    }
  }
  return parts.length > 1 ? solo : -1;
}

/**
 * Entities to hide so that a repeat shows only this instance, or all of them for -1; other hidden
 * entities stay hidden.
 */
export function withPart(
  tree: ITree,
  hidden: Iterable<number>,
  { repeatGroup, index }: IRepeatPart
): number[] {
  const parts = partsOf(tree, repeatGroup);
  const partIds = new Set(parts);
  const others = [...hidden].filter(entity => !partIds.has(entity));
  return index < 0
    ? others
    : [...others, ...parts.filter((_, i) => i !== index)];
}

/** Hidden entities, without the instances hidden only because a single one is shown. */
export function userHidden(
  tree: ITree,
  hidden: readonly number[]
): readonly number[] {
  const allHidden = new Set(hidden);
  const hasSolo = new Map<number, boolean>();
  const isSoloHidden = (entity: number): boolean => {
    const repeatGroup = repeatAround(tree, entity);
    if (repeatGroup < 0) {
      return false;
    }
    const isSolo =
      hasSolo.get(repeatGroup) ??
      soloPart(tree, repeatGroup, part => allHidden.has(part)) >= 0;
    hasSolo.set(repeatGroup, isSolo);
    return isSolo;
  };
  return hidden.filter(entity => !isSoloHidden(entity));
}

/** Number of groups from an entity downwards, itself included: in pre-order, their ids follow it. */
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
 * The entity of one instance that corresponds to `entity` in another. Instances have the same nodes; if
 * their blocks differ, it is the instance itself.
 */
export function correspondingEntity(
  tree: ITree & {
    readonly nodeOrder: Int32Array;
    readonly nodePosition: Int32Array;
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
    const offset = tree.nodePosition[entity] - tree.groupStart[a];
    const node = tree.nodeOrder[tree.groupStart[b] + offset];
    return tree.model.nodeOp[node] === tree.model.nodeOp[entity] ? node : to;
  }
  return groupsFrom(tree, from) === groupsFrom(tree, to)
    ? to + (entity - from)
    : to;
}
