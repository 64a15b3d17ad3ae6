/** Position and target of the context menu. */

import type { IHitTarget } from '../graph/surfaceApi';
import { selectionOf, selectedEntities } from './entityNames';
import type { ISession } from './types';

/** Opens the menu; its target is selected unless it is already part of the selection. */
export function openMenu(
  session: ISession,
  target: IHitTarget,
  point: { readonly x: number; readonly y: number }
): void {
  const state = session.store.get();
  if (!state.document) {
    return;
  }
  if (target && target.kind !== 'entity') {
    session.select(target);
  } else if (target && !selectedEntities(state).includes(target.id)) {
    session.select(selectionOf(state.document.model, target.id));
  }
  session.store.set({ menu: { target, ...point } });
}

export function closeMenu(session: ISession): void {
  session.store.set({ menu: null });
}
