/**
 * The overlay of differences between two compared models; the comparison code, loaded on use, provides
 * the states.
 */

import type { ITree } from '../../core/types';
import type { IOverlayDefinition, IStates } from './types';

const statesByTree = new WeakMap<ITree, IStates>();

/** Sets the states found by a comparison; null removes them. */
export function setChanges(tree: ITree, states: IStates | null): void {
  if (states === null) {
    statesByTree.delete(tree);
  } else {
    statesByTree.set(tree, states);
  }
}

/** True if the tree is that of two models merged into one graph. */
export function isMerged(tree: ITree): boolean {
  return statesByTree.get(tree)?.merged === true;
}

/** Available only while two models are compared structurally. */
export const changes: IOverlayDefinition<'changes'> = {
  id: 'changes',
  label: trans => trans.__('Changes'),
  about: tree => statesByTree.get(tree)?.about ?? '',
  unit: '',
  additive: false,
  available: tree => statesByTree.has(tree),
  value: (tree, entity) => statesByTree.get(tree)?.value(entity) ?? 0,
  states: tree => statesByTree.get(tree)
};
