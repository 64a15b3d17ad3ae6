/** Steps through the instances of a repeat, keeping the corresponding entity selected. */

import {
  soloPart,
  correspondingEntity,
  partAt,
  partsOf,
  withPart,
  type IRepeatPart
} from '../../core/tree/repeatParts';
import { selfAndAncestors } from '../../core/tree/hiddenEntities';
import type { IDocument, IViewerState } from '../state/types';
import { entityName, entityOf, selectionOf } from './entityNames';
import { recordHistory } from './navigationHistory';
import type { ISession } from './types';

/** A repeat and its only visible instance; `index` is -1 if all or none are shown. */
export interface ISoloPart extends IRepeatPart {
  readonly count: number;
}

type RepeatState = Pick<IViewerState, 'document' | 'selection' | 'hidden'>;

function soloPartOf(
  { tree }: IDocument,
  hidden: readonly number[],
  repeatGroup: number
): ISoloPart {
  const hiddenSet = new Set(hidden);
  const index = soloPart(tree, repeatGroup, entity => hiddenSet.has(entity));
  return { repeatGroup, index, count: partsOf(tree, repeatGroup).length };
}

/** The repeat that is or contains the selection; null if there is none. */
export function selectedRepeat(state: RepeatState): ISoloPart | null {
  const { document, selection, hidden } = state;
  const entity = document && entityOf(document.model, selection);
  if (!document || entity === null) {
    return null;
  }
  const repeatPart = partAt(document.tree, entity);
  return repeatPart && soloPartOf(document, hidden, repeatPart.repeatGroup);
}

/**
 * Open groups after the instance `to` replaced `from`: the corresponding groups are open, and hidden ones
 * are closed. `from` is -1 if no single instance was shown.
 */
function openAfterStep(
  { tree }: IDocument,
  open: readonly number[],
  { fold: repeatGroup, from, to }: { fold: number; from: number; to: number }
): number[] {
  const { nodeCount } = tree.model;
  const next = new Set([repeatGroup]);
  for (const group of open) {
    if (from >= nodeCount && groupIn(tree, group, from - nodeCount)) {
      next.add(
        correspondingEntity(tree, nodeCount + group, from, to) - nodeCount
      );
    } else {
      next.add(group);
    }
  }
  if (to >= nodeCount) {
    next.add(to - nodeCount);
  }
  for (const above of selfAndAncestors(tree, nodeCount + repeatGroup)) {
    next.add(above - nodeCount);
  }
  return [...next].filter(group => group >= 0);
}

function groupIn(
  tree: IDocument['tree'],
  group: number,
  around: number
): boolean {
  let ancestor = group;
  while (ancestor > around) {
    ancestor = tree.groupParent[ancestor];
  }
  return ancestor === around;
}

/** Index of the instance that contains the selection; -1 if none does. */
function selectedPart(
  { document, selection }: RepeatState,
  repeatGroup: number
) {
  const entity = document && entityOf(document.model, selection);
  const instance = document && entity !== null && partAt(document.tree, entity);
  return instance && instance.repeatGroup === repeatGroup ? instance.index : -1;
}

/** Shows a single instance of a repeat, expanded, or all of them for -1. The selection moves along. */
export async function showPart(
  session: ISession,
  { repeatGroup, index }: IRepeatPart
): Promise<void> {
  const state = session.store.get();
  const { document, hidden } = state;
  if (!document) {
    return;
  }
  const { tree, model } = document;
  const parts = partsOf(tree, repeatGroup);
  const alone = soloPartOf(document, hidden, repeatGroup).index;
  const selected = selectedPart(state, repeatGroup);
  recordHistory(session);
  if (index >= 0) {
    const entity = entityOf(model, state.selection);
    const counterpart =
      selected < 0 || entity === null
        ? parts[index]
        : correspondingEntity(tree, entity, parts[selected], parts[index]);
    session.store.set({
      selection: selectionOf(model, counterpart),
      moreSelected: []
    });
  }
  const open = session.graph.openGroups();
  const next =
    index < 0
      ? [...new Set([...open, repeatGroup])]
      : openAfterStep(document, open, {
          fold: repeatGroup,
          from: alone < 0 ? -1 : parts[alone],
          to: parts[index]
        });
  // The visible instance stays in place while the others appear or disappear; otherwise the title does.
  const anchor =
    index < 0 && alone >= 0 ? parts[alone] : model.nodeCount + repeatGroup;
  await session.graph.transition(
    view => view.restore(next, withPart(tree, hidden, { repeatGroup, index })),
    anchor
  );
  announce(session, document, { repeatGroup, index });
}

function announce(
  { store, trans }: ISession,
  { tree, model }: IDocument,
  { repeatGroup, index }: IRepeatPart
): void {
  const name = entityName(tree, model.nodeCount + repeatGroup);
  const count = partsOf(tree, repeatGroup).length;
  store.set({
    announcement:
      index < 0
        ? trans.__('%1: all instances', name)
        : trans.__('%1: instance %2 of %3', name, index + 1, count)
  });
}

/**
 * Moves the selection to the corresponding entity of the next (1) or previous (-1) instance. If only one
 * instance is shown, that one is shown instead.
 */
export async function stepSelection(
  session: ISession,
  step: 1 | -1
): Promise<void> {
  const state = session.store.get();
  const repeat = selectedRepeat(state);
  const { document, selection } = state;
  const entity = document && entityOf(document.model, selection);
  if (!repeat || !document || entity === null) {
    return;
  }
  const { tree, model } = document;
  const { index } = partAt(tree, entity)!;
  if (
    index < 0 ||
    repeat.index >= 0 ||
    !session.graph.isOpen(repeat.repeatGroup)
  ) {
    await stepPart(session, repeat.repeatGroup, step);
    return;
  }
  const parts = partsOf(tree, repeat.repeatGroup);
  const next = parts[(index + step + parts.length) % parts.length];
  const counterpart = correspondingEntity(tree, entity, parts[index], next);
  session.select(selectionOf(model, counterpart), 'reveal');
}

/**
 * A click in a repeat's title: next or previous instance, or (0) toggles between one and all, starting
 * with the first.
 */
export function stepRepeat(
  session: ISession,
  entity: number,
  step: 1 | -1 | 0
): Promise<void> {
  const { document, hidden } = session.store.get();
  if (!document) {
    return Promise.resolve();
  }
  const repeatGroup = entity - document.model.nodeCount;
  if (step !== 0) {
    return stepPart(session, repeatGroup, step);
  }
  const showsAll = soloPartOf(document, hidden, repeatGroup).index < 0;
  return showPart(session, { repeatGroup, index: showsAll ? 0 : -1 });
}

/** The next (1) or previous (-1) instance; the last one is followed by all of them, then the first. */
function stepPart(
  session: ISession,
  repeatGroup: number,
  step: 1 | -1
): Promise<void> {
  const state = session.store.get();
  if (!state.document) {
    return Promise.resolve();
  }
  const { index, count } = soloPartOf(
    state.document,
    state.hidden,
    repeatGroup
  );
  const next = ((index + 1 + step + count + 1) % (count + 1)) - 1;
  return showPart(session, { repeatGroup, index: next });
}
