import type { ITree } from '../../core/types';
import type { IOverlayDefinition } from './types';

/** Values that a host assigns to nodes: measured times, errors or anything else. */
export interface IUserValues {
  readonly label: string;
  readonly unit: string;
  /** True if a group has the largest value below it (as for errors) instead of the sum. */
  readonly largest?: boolean;
  /** Value by node id; other nodes are unknown. */
  readonly values: ReadonlyMap<number, number>;
}

interface IGroupedValues extends IUserValues {
  /** By group; NaN if no node below has a value. */
  readonly groups: Float64Array;
}

const valuesByTree = new WeakMap<ITree, IGroupedValues>();

/** Sets the values of a model; null removes them. */
export function setUserValues(tree: ITree, values: IUserValues | null): void {
  if (values === null) {
    valuesByTree.delete(tree);
    return;
  }
  const groups = new Float64Array(tree.groupCount).fill(Number.NaN);
  for (const [node, value] of values.values) {
    if (Number.isNaN(value)) {
      continue;
    }
    // An invalid node has no parent.
    for (
      let group = tree.nodeParent[node];
      group >= 0;
      group = tree.groupParent[group]
    ) {
      const previous = groups[group] || 0;
      groups[group] = values.largest
        ? Math.max(previous, value)
        : previous + value;
    }
  }
  valuesByTree.set(tree, { ...values, groups });
}

/** Values from the host; available only if there are any. */
export const user: IOverlayDefinition<'user'> = {
  id: 'user',
  label: (trans, tree) =>
    (tree && valuesByTree.get(tree)?.label) ||
    trans.__('Values from the notebook'),
  unit: '',
  available: tree => valuesByTree.has(tree),
  value: (tree, entity) => {
    const entry = valuesByTree.get(tree);
    const { nodeCount } = tree.model;
    return (
      (entity < nodeCount
        ? entry?.values.get(entity)
        : entry?.groups[entity - nodeCount]) ?? Number.NaN
    );
  }
};
