/**
 * Groups that only prepare sizes, masks or weights for one box are drawn as chips on its card while both
 * are collapsed. An expanded one is a box with wires. What is computed from constants has no wires: with
 * several readers it is a chip on the first collapsed one, or in the title of the first if all are expanded.
 */

import { removeHidden } from './hiddenEntities';
import type { ITree } from '../types';
import { formatCount } from '../base/numberFormat';
import type { IGroupTree, ILevel } from './treeTypes';

/** Maximum number of chips per card; the others are boxes. */
const MAX_CHIPS = 2;
/** Maximum number of nodes of a module that is a chip because it computes from constants only. */
const MAX_CONSTANT_NODES = 512;

/** The child of a level (-1 = root) that contains the node; -1 if it lies elsewhere. */
function childOf(
  {
    model,
    nodeParent,
    groupParent
  }: Pick<ITree, 'model' | 'nodeParent' | 'groupParent'>,
  level: number,
  node: number
): number {
  let entity = node;
  let parent = nodeParent[node];
  while (parent > level) {
    entity = model.nodeCount + parent;
    parent = groupParent[parent];
  }
  return parent === level ? entity : -1;
}

/**
 * Groups that can be chips, by the only node or group of their level that reads all their outputs,
 * directly or through other such groups; by every reader if they compute from constants only (`alone`).
 */
export function chipsByHost(
  tree: Omit<IGroupTree, 'groupChips'>,
  alone: Uint8Array
): ReadonlyMap<number, readonly number[]> {
  const { model, groupIsPreparation, groupMain, groupParent, nodeOrder } = tree;
  const { consumerOffsets, consumers } = model;
  const hosts = new Map<number, readonly number[]>();
  const chips = new Map<number, number[]>();
  // Readers come later.
  for (let group = tree.groupCount - 1; group >= 0; group--) {
    const nodes = nodeOrder.subarray(
      tree.groupStart[group],
      tree.groupEnd[group]
    );
    const isConstant =
      (groupIsPreparation[group] > 0 || nodes.length <= MAX_CONSTANT_NODES) &&
      nodes.every(node => alone[node]);
    if (!isConstant && (!groupIsPreparation[group] || groupMain[group] >= 0)) {
      continue;
    }
    const own = model.nodeCount + group;
    const readers = new Set<number>();
    const hostsOfReaders = new Set<number>();
    for (const node of nodes) {
      const end = model.outputOffsets[node + 1];
      for (let k = model.outputOffsets[node]; k < end; k++) {
        const tensor = model.outputs[k];
        const last = tensor < 0 ? 0 : consumerOffsets[tensor + 1];
        for (let c = tensor < 0 ? 0 : consumerOffsets[tensor]; c < last; c++) {
          const child = childOf(tree, groupParent[group], consumers[c]);
          readers.add(child);
          (hosts.get(child) ?? [child]).forEach(h => hostsOfReaders.add(h));
        }
      }
    }
    readers.delete(own);
    hostsOfReaders.delete(own);
    // Constants that only another chip reads belong to that chip.
    const candidates =
      isConstant && readers.size === 1 ? readers : hostsOfReaders;
    const free = [...candidates].filter(
      host => host >= 0 && (chips.get(host)?.length ?? 0) < MAX_CHIPS
    );
    if (free.length > 0 && (isConstant || candidates.size === 1)) {
      hosts.set(own, free);
      for (const host of free) {
        chips.set(host, [group, ...(chips.get(host) ?? [])]);
      }
    }
  }
  return chips;
}

/**
 * The level with chips on its cards and in the titles of its open groups, listed in `chips`. `isDrawn`:
 * drawn as a card, or as an open group.
 */
export function withChips(
  { model, groupChips }: Pick<ITree, 'model' | 'groupChips'>,
  level: ILevel,
  isDrawn: (entity: number, isOpen: boolean) => boolean
): ILevel {
  const { children, linkSource, linkTensor } = level;
  const itemOf = new Map<number, number>();
  children.forEach((entity, item) => itemOf.set(entity, item));
  /** Item of the host by item of the chip. */
  const folded = new Map<number, number>();
  /** Where an item is drawn: a chip may be on a box that is itself a chip. */
  const placeOf = (item: number): number => {
    const host = folded.get(item);
    return host === undefined ? item : placeOf(host);
  };
  const linked = new Set(linkSource);
  for (const isOpen of [false, true]) {
    children.forEach((entity, host) => {
      for (const group of groupChips.get(entity) ?? []) {
        const chip = model.nodeCount + group;
        const item = itemOf.get(chip)!;
        if (
          isDrawn(entity, isOpen) &&
          isDrawn(chip, false) &&
          !folded.has(item) &&
          !(isOpen && linked.has(item)) &&
          placeOf(host) !== item
        ) {
          folded.set(item, host);
        }
      }
    });
  }
  // Tensors read by another chip that is now expanded need wires.
  for (let before = -1; before !== folded.size;) {
    before = folded.size;
    level.linkTarget.forEach((target, l) => {
      const source = linkSource[l];
      if (folded.has(source) && placeOf(target) !== placeOf(source)) {
        folded.delete(source);
      }
    });
  }
  if (folded.size === 0) {
    return level;
  }
  const key = (l: number, target: number) =>
    `${linkSource[l]} ${target} ${linkTensor[l]}`;
  const read = new Set<string>();
  level.linkTarget.forEach((target, l) => read.add(key(l, target)));
  // The host reads the chip's inputs; wires between the two disappear with the chip.
  const linkTarget = level.linkTarget.map((target, l) => {
    const host = placeOf(target);
    const wire = key(l, host);
    if (host === target || host === placeOf(linkSource[l]) || read.has(wire)) {
      return target;
    }
    read.add(wire);
    return host;
  });
  const chips = new Map<number, number>();
  folded.forEach((_, item) =>
    chips.set(children[item], children[placeOf(item)])
  );
  return {
    ...removeHidden({ ...level, linkTarget }, chips),
    hiddenLinks: undefined,
    chips
  };
}

/** `sizes · 5`: what a group prepares, and its number of nodes. */
export function chipText(tree: ITree, group: number): string {
  const [label] = tree.groupLabel[group].split(' · ');
  const kind = label
    .split(/ [+/] /)
    .pop()!
    .toLowerCase();
  const nodes = tree.groupSize[group] - (tree.groupMain[group] < 0 ? 0 : 1);
  return `${kind} · ${formatCount(nodes)}`;
}

/** Groups that can be chips on the card of an entity. */
export function chipGroups(tree: ITree, entity: number): readonly number[] {
  const own = entity - tree.model.nodeCount;
  const others = tree.groupChips.get(entity) ?? [];
  return own >= 0 && tree.groupMain[own] >= 0 ? [own, ...others] : others;
}

/** The node that a preparing group is drawn as, if it has one; else the entity itself. */
export function displayedEntity(tree: ITree, entity: number): number {
  const main = tree.groupMain[entity - tree.model.nodeCount] ?? -1;
  return main < 0 ? entity : main;
}
