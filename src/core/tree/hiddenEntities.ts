/** Hiding entities: which ones, and the level without them. */

import { IntList } from '../base/csr';
import type { ITree } from '../types';
import type { IGroupTree, IHiddenLink, ILevel } from './treeTypes';

/**
 * The same hidden entities in canonical form: none below another, and a group in place of all its
 * children. Ascending. Linear in the size of the tree.
 */
export function canonicalHidden(
  tree: IGroupTree,
  entities: Iterable<number>
): number[] {
  const { nodeCount } = tree.model;
  const marks = new Uint8Array(nodeCount + tree.groupCount);
  for (const entity of entities) {
    if (entity >= 0 && entity < marks.length) {
      marks[entity] = 1;
    }
  }
  // Children have larger ids than their parents, so this runs from the last to the first.
  for (let group = tree.groupCount - 1; group >= 0; group--) {
    const children = tree.children[group + 1];
    if (children.length > 0 && children.every(child => marks[child])) {
      marks[nodeCount + group] = 1;
    }
  }
  const hiddenIds: number[] = [];
  for (let row = 0; row <= tree.groupCount; row++) {
    const above = row > 0 && marks[nodeCount + row - 1];
    for (const child of tree.children[row]) {
      if (above) {
        // Marks the children; their own children come later.
        marks[child] = 2;
      } else if (marks[child] === 1) {
        hiddenIds.push(child);
      }
    }
  }
  return hiddenIds.sort((a, b) => a - b);
}

/**
 * Entities to hide so that only the given ones, their descendants and their ancestors remain. Empty if
 * there is nothing to keep.
 */
export function allExcept(
  tree: IGroupTree,
  entities: Iterable<number>
): number[] {
  const { nodeCount } = tree.model;
  /** 1: kept entirely; 2: partly kept. */
  const marks = new Uint8Array(nodeCount + tree.groupCount);
  let some = false;
  for (const entity of entities) {
    if (entity < 0 || entity >= marks.length) {
      continue;
    }
    some = true;
    marks[entity] = 1;
    for (const group of selfAndAncestors(tree, entity).slice(1)) {
      marks[group] ||= 2;
    }
  }
  if (!some) {
    return [];
  }
  const others: number[] = [];
  for (let row = 0; row <= tree.groupCount; row++) {
    if (row > 0 && marks[nodeCount + row - 1] !== 2) {
      continue;
    }
    for (const child of tree.children[row]) {
      if (!marks[child]) {
        others.push(child);
      }
    }
  }
  return others;
}

/** Number of drawn nodes that the entities stand for; none may lie below another. */
export function countHiddenNodes(
  tree: IGroupTree,
  entities: readonly number[]
): number {
  const { nodeCount } = tree.model;
  return entities.reduce(
    (sum, entity) =>
      sum + (entity < nodeCount ? 1 : tree.groupSize[entity - nodeCount]),
    0
  );
}

/**
 * True if the entity has its own box, or the card of its preparing group: neither it nor an ancestor is
 * hidden, and all other ancestors are expanded.
 */
export function isDrawn(
  tree: IGroupTree,
  entity: number,
  hidden: Iterable<number>,
  isOpen: (group: number) => boolean
): boolean {
  const { nodeCount } = tree.model;
  const [own, ...around] = selfAndAncestors(tree, entity);
  const hiddenSet = new Set(hidden);
  return (
    !hiddenSet.has(own) &&
    around.every(
      ancestor =>
        !hiddenSet.has(ancestor) &&
        (isOpen(ancestor - nodeCount) ||
          tree.groupMain[ancestor - nodeCount] === own)
    )
  );
}

/** The entity and its ancestors, innermost first. */
export function selfAndAncestors(tree: ITree, entity: number): number[] {
  const { nodeCount } = tree.model;
  const chain = [entity];
  let group =
    entity < nodeCount
      ? tree.nodeParent[entity]
      : tree.groupParent[entity - nodeCount];
  for (; group >= 0; group = tree.groupParent[group]) {
    chain.push(nodeCount + group);
  }
  return chain;
}

/** The remaining items of a level by their new numbers; -1 if removed. */
function renumberItems(
  level: ILevel,
  hidden: Pick<ReadonlySet<number>, 'has'>
) {
  const removed = new Uint8Array(level.itemCount);
  level.children.forEach((entity, item) => {
    removed[item] = hidden.has(entity) ? 1 : 0;
  });
  const { length } = level.children;
  const pills = length + level.inputs.length + level.outputs.length;
  // A pill is removed with the last item it is wired to; one without wires stays.
  const wired = new Uint8Array(level.itemCount);
  const kept = new Uint8Array(level.itemCount);
  for (let l = 0; l < level.linkSource.length; l++) {
    const [s, t] = [level.linkSource[l], level.linkTarget[l]];
    wired[s] = wired[t] = 1;
    if (!removed[s] && !removed[t]) {
      kept[s] = kept[t] = 1;
    }
  }
  for (let item = length; item < pills; item++) {
    removed[item] = wired[item] && !kept[item] ? 1 : 0;
  }
  let count = 0;
  const newItem = Int32Array.from(removed, out => (out ? -1 : count++));
  return { removed, kept, newItem, count };
}

/**
 * Removes children from a level. Their wires end in named connectors, listed in `hiddenLinks`: one for
 * every tensor that comes from a hidden child or is read only by hidden children.
 */
export function removeHidden(
  level: ILevel,
  hidden: Pick<ReadonlySet<number>, 'has'>
): ILevel {
  if (!level.children.some(entity => hidden.has(entity))) {
    return level;
  }
  const { removed, kept, newItem, count } = renumberItems(level, hidden);
  const links = {
    source: new IntList(),
    target: new IntList(),
    tensor: new IntList(),
    weight: new IntList(),
    member: new IntList()
  };
  const read = new Set<string>();
  for (let l = 0; l < level.linkSource.length; l++) {
    const [s, t] = [level.linkSource[l], level.linkTarget[l]];
    if (!removed[s] && !removed[t]) {
      links.source.push(newItem[s]);
      links.target.push(newItem[t]);
      links.tensor.push(level.linkTensor[l]);
      links.weight.push(level.linkWeight[l]);
      links.member.push(level.linkMember[l]);
      read.add(`${s} ${level.linkTensor[l]}`);
    }
  }
  const remaining = (from: number, list: Int32Array): Int32Array =>
    list.filter((_, i) => !removed[from + i]);
  const first = level.children.length;
  return {
    ...level,
    children: remaining(0, level.children),
    inputs: remaining(first, level.inputs),
    outputs: remaining(first + level.inputs.length, level.outputs),
    itemCount: count,
    linkSource: links.source.toArray(),
    linkTarget: links.target.toArray(),
    linkTensor: links.tensor.toArray(),
    linkWeight: links.weight.toArray(),
    linkMember: links.member.toArray(),
    hiddenLinks: hiddenLinksOf(level, { removed, kept, newItem }, read)
  };
}

function hiddenLinksOf(
  level: ILevel,
  { removed, kept, newItem }: Omit<ReturnType<typeof renumberItems>, 'count'>,
  read: ReadonlySet<string>
): IHiddenLink[] {
  const cuts: IHiddenLink[] = [];
  const sources = new Set<string>();
  for (let l = 0; l < level.linkSource.length; l++) {
    const [s, t] = [level.linkSource[l], level.linkTarget[l]];
    const tensor = level.linkTensor[l];
    const key = `${s} ${tensor}`;
    // A pill or port of several tensors that still receives some of them needs no connector for the
    // others.
    const hasInput = t >= level.children.length && kept[t];
    if (removed[s] && !removed[t] && !hasInput) {
      cuts.push({ item: newItem[t], tensor, enters: true });
    } else if (
      removed[t] &&
      !removed[s] &&
      s < level.children.length &&
      !read.has(key) &&
      !sources.has(key)
    ) {
      sources.add(key);
      cuts.push({ item: newItem[s], tensor, enters: false });
    }
  }
  return cuts;
}
