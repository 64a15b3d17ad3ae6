/** Selects by click, by area and by type. */

import { NO_SELECTION, NO_SEARCH } from '../state/types';
import { entityOf, selectionOf, selectedEntities } from './entityNames';
import type { ISession } from './types';

/** Maximum number of selected entities; marks for more are not informative, and sums become slow. */
const MAX_SELECTED = 20_000;

/** Selects these entities, the first as the primary one; `additive` keeps the current selection. */
export function selectAll(
  session: ISession,
  entities: readonly number[],
  additive = false
): void {
  const state = session.store.get();
  const { document } = state;
  if (!document) {
    return;
  }
  const previous = additive ? selectedEntities(state) : [];
  const selected = [...new Set([...previous, ...entities])].slice(
    0,
    MAX_SELECTED
  );
  const [first, ...moreSelected] = selected;
  if (first === undefined) {
    session.select(NO_SELECTION);
    return;
  }
  session.select(selectionOf(document.model, first));
  session.store.set({ moreSelected });
  session.store.set({
    announcement: session.trans._n(
      '%1 selected',
      '%1 selected',
      selected.length
    )
  });
}

/** A click on an entity, or on the background. */
export function selectByClick(
  session: ISession,
  entity: number | null,
  additive: boolean
): void {
  const { document, selection, moreSelected } = session.store.get();
  if (!document) {
    return;
  }
  if (entity === null) {
    // The first click clears the selection, the second one the search.
    if (selection.kind === 'none') {
      session.store.set({ search: NO_SEARCH });
    }
    session.select(NO_SELECTION);
  } else if (!additive || selection.kind === 'none') {
    session.select(selectionOf(document.model, entity));
    if (moreSelected.length > 0) {
      session.store.set({ moreSelected: [] });
    }
  } else if (entity === entityOf(document.model, selection)) {
    // Deselected: the next one becomes the primary one.
    selectAll(session, moreSelected);
  } else {
    session.store.set({
      moreSelected: moreSelected.includes(entity)
        ? moreSelected.filter(other => other !== entity)
        : [...moreSelected, entity]
    });
  }
}

/** Selects all nodes of the selected operator types, or blocks of the selected classes. */
export function selectSameType(session: ISession): void {
  const state = session.store.get();
  const { document } = state;
  if (!document) {
    return;
  }
  const { model, tree } = document;
  const { nodeCount } = model;
  const typeOf = (entity: number): string =>
    entity < nodeCount
      ? `n ${model.opType(entity)}`
      : `g ${tree.groupType[entity - nodeCount] || tree.groupLabel[entity - nodeCount]}`;
  const selected = selectedEntities(state);
  const types = new Set(selected.map(typeOf));
  const entities = [
    ...tree.nodeOrder,
    ...tree.groupLabel.map((_, g) => nodeCount + g)
  ];
  selectAll(session, [
    ...selected,
    ...entities.filter(e => types.has(typeOf(e)))
  ]);
}
