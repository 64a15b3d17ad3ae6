/** Colours of two models shown as one graph. */

import { Changes, type IChanges } from '../../core/matching/alignmentChanges';
import type { IMergedPayload } from '../../core/merge/mergePayloads';
import { sceneWires } from '../../core/merge/mergedWires';
import { setChanges } from '../overlays/changesOverlay';
import type { ITranslate } from '../i18n/translate';
import { kindText } from './changeKinds';
import { changeStates } from './changeStates';
import type { IGroupTree } from '../../core/tree/treeTypes';

const NEITHER = 0;
export const REMOVED = 1;
export const ADDED = 2;
const MIXED = 3;

/** By node and group: whether all of it was removed, or added. */
function unmatchedStates(
  tree: IGroupTree,
  changes: IChanges,
  side: Uint8Array
): Uint8Array {
  const { nodeCount } = tree.model;
  const sides = new Uint8Array(nodeCount + tree.groupCount).fill(NEITHER);
  for (let node = 0; node < nodeCount; node++) {
    if (changes.state(0, node) === 'only') {
      sides[node] = side[node] === 0 ? REMOVED : ADDED;
    }
  }
  const add = (group: number, changeBits: number): void => {
    if (group >= 0) {
      sides[nodeCount + group] |= changeBits;
    }
  };
  tree.nodeOrder.forEach(node => add(tree.nodeParent[node], sides[node]));
  for (let group = tree.groupCount - 1; group >= 0; group--) {
    add(tree.groupParent[group], sides[nodeCount + group]);
  }
  return sides;
}

export interface IMergedOverlay {
  readonly changes: IChanges;
  /** By node and group: bits of `REMOVED` and `ADDED`. */
  readonly changeBits: Uint8Array;
  added(entity: number): boolean;
}

/** Registers the changes of a merged tree, for the overlay that shows them. */
export function setMergedOverlay(
  tree: IGroupTree,
  {
    alignment,
    side,
    wire
  }: Pick<IMergedPayload, 'alignment' | 'side' | 'wire'>,
  trans: ITranslate
): IMergedOverlay {
  const changes = new Changes(alignment, [tree, tree]);
  const changeBits = unmatchedStates(tree, changes, side);
  const added = (entity: number): boolean => changeBits[entity] === ADDED;
  const states = changeStates({
    second: false,
    added,
    wires: scene => sceneWires(tree, scene, wire),
    trans,
    state: entity => {
      const state = changes.state(0, entity);
      return state === 'only' && changeBits[entity] === MIXED
        ? 'changed'
        : state;
    },
    about: entity =>
      changes
        .kinds(0, entity)
        .map(kind => kindText(kind, trans))
        .join(', ')
  });
  setChanges(tree, states);
  return { changes, changeBits: changeBits, added };
}

/**
 * The first added or removed box inside a repeat, which shows only one instance; null if there is none.
 */
export function firstUnmatched(
  tree: IGroupTree,
  changeBits: Uint8Array
): number | null {
  const { nodeCount } = tree.model;
  const isOneSided = (group: number): boolean =>
    tree.nodeOrder
      .subarray(tree.groupStart[group], tree.groupEnd[group])
      .every(node => changeBits[node] !== NEITHER);
  const first = tree.nodeOrder.find(node => changeBits[node] !== NEITHER);
  if (first === undefined) {
    return null;
  }
  let level = first;
  let folded = false;
  let group = tree.nodeParent[first];
  for (; group >= 0; group = tree.groupParent[group]) {
    if (isOneSided(group)) {
      level = nodeCount + group;
    }
    folded ||= tree.groupIsRepeat[group] === 1;
  }
  return folded ? level : null;
}
