/** The outline as a flat list of visible rows. */

import type { ITree } from '../../../core/types';

export interface IOutlineRow {
  readonly entity: number;
  readonly level: number;
  /** Position among its siblings, from 1, and their number. */
  readonly position: number;
  readonly siblings: number;
}

/** Rows of the tree with the given groups open. Iterative, since trees may be deep. */
export function outlineRows(
  tree: ITree,
  open: ReadonlySet<number>
): IOutlineRow[] {
  const { nodeCount } = tree.model;
  const rows: IOutlineRow[] = [];
  const stack: { row: number; next: number; level: number }[] = [
    { row: 0, next: 0, level: 1 }
  ];
  while (stack.length > 0) {
    const top = stack[stack.length - 1];
    const children = tree.children[top.row];
    if (top.next >= children.length) {
      stack.pop();
      continue;
    }
    const entity = children[top.next++];
    rows.push({
      entity,
      level: top.level,
      position: top.next,
      siblings: children.length
    });
    const group = entity - nodeCount;
    if (group >= 0 && open.has(group)) {
      stack.push({ row: group + 1, next: 0, level: top.level + 1 });
    }
  }
  return rows;
}

/** The open set with all ancestors of the entity; the same set if nothing changes. */
export function expandAncestors(
  tree: ITree,
  open: ReadonlySet<number>,
  entity: number
): ReadonlySet<number> {
  const { nodeCount } = tree.model;
  const added = new Set(open);
  let group =
    entity < nodeCount
      ? tree.nodeParent[entity]
      : tree.groupParent[entity - nodeCount];
  for (; group >= 0; group = tree.groupParent[group]) {
    added.add(group);
  }
  return added.size === open.size ? open : added;
}
