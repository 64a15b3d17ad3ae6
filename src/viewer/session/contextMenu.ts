/** Position and target of the context menu. */

import type { IHitTarget } from '../graph/surfaceApi';
import { selectionOf, selectedEntities } from './entityNames';
import type { ISession } from './types';

/** Opens the menu; its target is selected unless it is already part of the selection. */
export function openMenu(
  session: ISession,
  what: IHitTarget,
  at: { readonly x: number; readonly y: number }
): void {
  const state = session.store.get();
  if (!state.document) {
    return;
  }
  if (what && what.kind !== 'entity') {
    session.select(what);
  } else if (what && !selectedEntities(state).includes(what.id)) {
    session.select(selectionOf(state.document.model, what.id));
  }
  session.store.set({ menu: { what, ...at } });
}

export function closeMenu(session: ISession): void {
  session.store.set({ menu: null });
}
