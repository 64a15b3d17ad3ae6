/** What differs between two compared models; the comparison, whose code comes when it is used, says how. */

import type { ITree } from '../../core/types';
import type { IOverlayDefinition, IStates } from './types';

const kept = new WeakMap<ITree, IStates>();

/** Sets or, with null, takes away what a comparison found. */
export function setChanges(tree: ITree, states: IStates | null): void {
  if (states === null) {
    kept.delete(tree);
  } else {
    kept.set(tree, states);
  }
}

/** Whether the tree is that of two models as one graph. */
export function isMerged(tree: ITree): boolean {
  return kept.get(tree)?.merged === true;
}

/** Offered only while two models are compared by structure. */
export const changes: IOverlayDefinition<'changes'> = {
  id: 'changes',
  label: trans => trans.__('Changes'),
  about: tree => kept.get(tree)?.about ?? '',
  unit: '',
  additive: false,
  available: tree => kept.has(tree),
  value: (tree, entity) => kept.get(tree)?.value(entity) ?? 0,
  states: tree => kept.get(tree)
};
