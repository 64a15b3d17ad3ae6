/** Searching: the query lives in the state, the matches are found in the core. */

import { search } from '../../core/search';
import { NO_SEARCH } from '../state/types';
import { selectionOf } from './entities';
import type { Session } from './session';

/** Finds what matches; the picture only marks it until the user steps through. */
export function setQuery(session: Session, query: string): void {
  const { document } = session.store.get();
  if (query.trim() === '' || !document) {
    session.store.set({ search: { ...NO_SEARCH, query } });
    return;
  }
  const hits = search(document.tree, query);
  session.store.set({ search: { query, hits, at: -1 } });
}

/** Goes to the next (1) or previous (-1) match, opening what hides it; wraps around. */
export function stepSearch(session: Session, step: 1 | -1): void {
  const { document, search: found } = session.store.get();
  const { hits, at } = found;
  if (!document || hits.length === 0) {
    return;
  }
  const next =
    at < 0
      ? step > 0
        ? 0
        : hits.length - 1
      : (at + step + hits.length) % hits.length;
  session.store.set({ search: { ...found, at: next } });
  session.select(selectionOf(document.model, hits[next]), 'reveal');
}
