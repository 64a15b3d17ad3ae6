import type { ITree } from '../../core/types';
import type { IOverlayDefinition } from './types';

/** Numbers a host gives to nodes: measured times, errors, anything. */
export interface IUserValues {
  readonly label: string;
  readonly unit: string;
  /** A group has the largest number below it, as of errors, instead of the sum. */
  readonly largest?: boolean;
  /** Node id → number; nodes left out are unknown. */
  readonly values: ReadonlyMap<number, number>;
}

interface IKept extends IUserValues {
  /** By group; NaN where no node below has a number. */
  readonly groups: Float64Array;
}

const kept = new WeakMap<ITree, IKept>();

/** Sets or, with null, takes away the numbers of a model. */
export function setUserValues(tree: ITree, given: IUserValues | null): void {
  if (given === null) {
    kept.delete(tree);
    return;
  }
  const groups = new Float64Array(tree.groupCount).fill(Number.NaN);
  for (const [node, value] of given.values) {
    if (Number.isNaN(value)) {
      continue;
    }
    // A node that is not there has no parent.
    for (
      let group = tree.nodeParent[node];
      group >= 0;
      group = tree.groupParent[group]
    ) {
      const held = groups[group] || 0;
      groups[group] = given.largest ? Math.max(held, value) : held + value;
    }
  }
  kept.set(tree, { ...given, groups });
}

/** What the host gave; offered only while there is something. */
export const user: IOverlayDefinition<'user'> = {
  id: 'user',
  label: (trans, tree) =>
    (tree && kept.get(tree)?.label) || trans.__('Values from the notebook'),
  unit: '',
  available: tree => kept.has(tree),
  value: (tree, entity) => {
    const entry = kept.get(tree);
    const { nodeCount } = tree.model;
    return (
      (entity < nodeCount
        ? entry?.values.get(entity)
        : entry?.groups[entity - nodeCount]) ?? Number.NaN
    );
  }
};
