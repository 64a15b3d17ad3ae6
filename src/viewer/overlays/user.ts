import type { ITree } from '../../core/types';
import type { IOverlayDefinition } from './types';

/** Numbers a host gives to nodes: measured times, errors, anything. */
export interface IUserValues {
  readonly label: string;
  readonly unit: string;
  /** Node id → number; nodes left out are unknown. */
  readonly values: ReadonlyMap<number, number>;
}

interface IKept extends IUserValues {
  /** Sums by group, NaN where no node below has a number. */
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
    if (!(node >= 0 && node < tree.model.nodeCount) || Number.isNaN(value)) {
      continue;
    }
    for (
      let group = tree.nodeParent[node];
      group >= 0;
      group = tree.groupParent[group]
    ) {
      groups[group] = (groups[group] || 0) + value;
    }
  }
  kept.set(tree, { ...given, groups });
}

function hasUserValues(tree: ITree): boolean {
  return kept.has(tree);
}

function userLabel(tree: ITree): string {
  return kept.get(tree)?.label ?? '';
}

/** What the host gave; offered only while there is something. */
export const user: IOverlayDefinition<'user'> = {
  id: 'user',
  label: (trans, tree) =>
    (tree && userLabel(tree)) || trans.__('Values of the notebook'),
  unit: '',
  available: hasUserValues,
  value: (tree, entity) => {
    const entry = kept.get(tree);
    const { nodeCount } = tree.model;
    if (!entry) {
      return Number.NaN;
    }
    return entity < nodeCount
      ? (entry.values.get(entity) ?? Number.NaN)
      : entry.groups[entity - nodeCount];
  }
};
