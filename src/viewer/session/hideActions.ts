/** Hides parts of the graph. */

import { allExcept } from '../../core/tree/hiddenEntities';
import { userHidden } from '../../core/tree/repeatParts';
import type { IDocument, IHiddenRecord } from '../state/types';
import { selectedEntities } from './entityNames';
import { recordHistory } from './navigationHistory';
import type { ISession } from './types';

/** Maximum number of pairs that are saved. */
const MAX_PAIRS = 10_000;

async function hide(
  session: ISession,
  entitiesOf: (document: IDocument) => number[]
): Promise<void> {
  const { document } = session.store.get();
  if (document) {
    recordHistory(session);
    const hidden = entitiesOf(document);
    await session.graph.transition(view => view.setHidden(hidden));
  }
}

/** Hides the selection in addition to what is already hidden. */
export async function hideSelection(session: ISession): Promise<void> {
  const state = session.store.get();
  const selected = selectedEntities(state);
  if (selected.length > 0) {
    // Chips on a hidden card are hidden too.
    await hide(session, ({ tree }) => [
      ...state.hidden,
      ...selected,
      ...selected
        .flatMap(entity => tree.groupChips.get(entity) ?? [])
        .filter(group => !session.graph.isOpen(group))
        .map(group => tree.model.nodeCount + group)
    ]);
    session.store.set({ selection: { kind: 'none' }, moreSelected: [] });
  }
}

/** Hides everything except the selection and the groups around it. */
export async function showOnlySelection(session: ISession): Promise<void> {
  const selected = selectedEntities(session.store.get());
  if (selected.length > 0) {
    await hide(session, ({ tree }) => allExcept(tree, selected));
    session.graph.surface?.fit(true);
  }
}

/** Shows everything hidden by the user; a repeat that shows a single instance continues to do so. */
export function showAll(session: ISession): Promise<void> {
  const { hidden } = session.store.get();
  return hide(session, ({ tree }) => {
    const byHand = new Set(userHidden(tree, hidden));
    return hidden.filter(entity => !byHand.has(entity));
  });
}

/** The record of hidden entities; undefined if there are none or too many. */
export function hiddenRecord(
  { model }: IDocument,
  hidden: readonly number[]
): IHiddenRecord | undefined {
  const ranges: number[] = [];
  for (const id of [...hidden].sort((a, b) => a - b)) {
    if (ranges[ranges.length - 1] === id - 1) {
      ranges[ranges.length - 1] = id;
    } else {
      ranges.push(id, id);
    }
  }
  return ranges.length > 0 && ranges.length <= 2 * MAX_PAIRS
    ? { of: model.payload.model.identity, ranges }
    : undefined;
}

/** The entities of a record; none if it belongs to another file. */
export function hiddenOf(
  { model, tree }: IDocument,
  record: IHiddenRecord | undefined
): number[] {
  if (!record || record.of !== model.payload.model.identity) {
    return [];
  }
  const count = model.nodeCount + tree.groupCount;
  const entities: number[] = [];
  for (let i = 0; i < record.ranges.length; i += 2) {
    const end = Math.min(record.ranges[i + 1], count - 1);
    for (let id = record.ranges[i]; id <= end; id++) {
      entities.push(id);
    }
  }
  return entities;
}
