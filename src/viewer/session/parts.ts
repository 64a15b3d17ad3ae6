/** Looking at one part of a repeat after the other: the same place in each. */

import {
  chosenPart,
  counterpart,
  partAt,
  partsOf,
  withPart,
  type IPart
} from '../../core/parts';
import { withAncestors } from '../../core/hidden';
import type { IDocument, IViewerState } from '../state/types';
import { entityName, entityOf, selectionOf } from './entities';
import { remember } from './places';
import type { ISession } from './types';

/** A repeat with the part that is shown alone; `index` -1: all parts are shown, or none. */
export interface IShownPart extends IPart {
  readonly count: number;
}

type PartState = Pick<IViewerState, 'document' | 'selection' | 'hidden'>;

function shownPart(
  { tree }: IDocument,
  hidden: readonly number[],
  fold: number
): IShownPart {
  const gone = new Set(hidden);
  const index = chosenPart(tree, fold, entity => gone.has(entity));
  return { fold, index, count: partsOf(tree, fold).length };
}

/** The repeat that the selection is, or lies in; null without. */
export function selectedRepeat(state: PartState): IShownPart | null {
  const { document, selection, hidden } = state;
  const entity = document && entityOf(document.model, selection);
  if (!document || entity === null) {
    return null;
  }
  const part = partAt(document.tree, entity);
  return part && shownPart(document, hidden, part.fold);
}

/**
 * Open groups once the part `to` stands where `from` stood: open in the same places, while what goes out
 * of sight closes. `from` is -1 when no part was looked at.
 */
function openings(
  { tree }: IDocument,
  open: readonly number[],
  { fold, from, to }: { fold: number; from: number; to: number }
): number[] {
  const { nodeCount } = tree.model;
  const next = new Set([fold]);
  for (const group of open) {
    if (from >= nodeCount && groupIn(tree, group, from - nodeCount)) {
      next.add(counterpart(tree, nodeCount + group, from, to) - nodeCount);
    } else {
      next.add(group);
    }
  }
  if (to >= nodeCount) {
    next.add(to - nodeCount);
  }
  for (const above of withAncestors(tree, nodeCount + fold)) {
    next.add(above - nodeCount);
  }
  return [...next].filter(group => group >= 0);
}

function groupIn(
  tree: IDocument['tree'],
  group: number,
  around: number
): boolean {
  let at = group;
  while (at > around) {
    at = tree.groupParent[at];
  }
  return at === around;
}

/** The place of the selection among the parts of a repeat, -1 when it is in none. */
function selectedPart({ document, selection }: PartState, fold: number) {
  const entity = document && entityOf(document.model, selection);
  const place = document && entity !== null && partAt(document.tree, entity);
  return place && place.fold === fold ? place.index : -1;
}

/** Shows one part of a repeat alone, open, or with -1 all of them. The selection goes along. */
export async function showPart(
  session: ISession,
  { fold, index }: IPart
): Promise<void> {
  const state = session.store.get();
  const { document, hidden } = state;
  if (!document) {
    return;
  }
  const { tree, model } = document;
  const parts = partsOf(tree, fold);
  const alone = shownPart(document, hidden, fold).index;
  const selected = selectedPart(state, fold);
  remember(session);
  if (index >= 0) {
    const entity = entityOf(model, state.selection);
    const there =
      selected < 0 || entity === null
        ? parts[index]
        : counterpart(tree, entity, parts[selected], parts[index]);
    session.store.set({ selection: selectionOf(model, there), also: [] });
  }
  const open = session.stage.openGroups();
  const next =
    index < 0
      ? [...new Set([...open, fold])]
      : openings(document, open, {
          fold,
          from: alone < 0 ? -1 : parts[alone],
          to: parts[index]
        });
  // The others come and go around the part that is looked at; else the title stays.
  const anchor =
    index < 0 && alone >= 0 ? parts[alone] : model.nodeCount + fold;
  await session.stage.change(
    view => view.restore(next, withPart(tree, hidden, { fold, index })),
    anchor
  );
  announce(session, document, { fold, index });
}

function announce(
  { store, trans }: ISession,
  { tree, model }: IDocument,
  { fold, index }: IPart
): void {
  const name = entityName(tree, model.nodeCount + fold);
  const count = partsOf(tree, fold).length;
  store.set({
    announcement:
      index < 0
        ? trans.__('%1: all instances', name)
        : trans.__('%1: instance %2 of %3', name, index + 1, count)
  });
}

/**
 * The selection moves to the same place in the next (1) or previous (-1) part. Where all parts are shown
 * they stay; else the part is shown alone.
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
  if (index < 0 || repeat.index >= 0 || !session.stage.isOpen(repeat.fold)) {
    await stepPart(session, repeat.fold, step);
    return;
  }
  const parts = partsOf(tree, repeat.fold);
  const next = parts[(index + step + parts.length) % parts.length];
  const there = counterpart(tree, entity, parts[index], next);
  session.select(selectionOf(model, there), 'reveal');
}

/** A click in a repeat's title: a part on or back, or (0) from one to all and from all to the first. */
export function clickedStep(
  session: ISession,
  entity: number,
  step: 1 | -1 | 0
): Promise<void> {
  const { document, hidden } = session.store.get();
  if (!document) {
    return Promise.resolve();
  }
  const fold = entity - document.model.nodeCount;
  if (step !== 0) {
    return stepPart(session, fold, step);
  }
  const all = shownPart(document, hidden, fold).index < 0;
  return showPart(session, { fold, index: all ? 0 : -1 });
}

/** The next (1) or the previous (-1) part; after the last one come all together, then the first. */
function stepPart(
  session: ISession,
  fold: number,
  step: 1 | -1
): Promise<void> {
  const state = session.store.get();
  if (!state.document) {
    return Promise.resolve();
  }
  const { index, count } = shownPart(state.document, state.hidden, fold);
  const next = ((index + 1 + step + count + 1) % (count + 1)) - 1;
  return showPart(session, { fold, index: next });
}
