/** Searching: the query lives in the state, its grammar and its matches are the core's. */

import { findAll } from '../../core/matcher';
import { parseQuery } from '../../core/query';
import type { ITree } from '../../core/types';
import { NO_SEARCH } from '../state/types';
import { selectionOf } from './entities';
import type { ISession } from './types';

/** Entities that match; best first, or in graph order when no word ranks them. None for a wrong query. */
export function findEntities(tree: ITree, text: string): number[] {
  const { query } = parseQuery(text);
  return query === null ? [] : findAll(tree, query);
}

/** Finds what matches; the picture only marks it until the user steps through. */
export function setQuery(session: ISession, text: string): void {
  const { document } = session.store.get();
  if (text.trim() === '' || !document) {
    session.store.set({ search: { ...NO_SEARCH, query: text } });
    return;
  }
  const { query, fault } = parseQuery(text);
  const hits = query === null ? [] : findAll(document.tree, query);
  session.store.set({ search: { query: text, hits, at: -1, fault } });
}

/** The same query over other numbers of the same model; stays at its match where that still is one. */
export function findAgain(session: ISession): void {
  const { document, search } = session.store.get();
  if (document && search.query.trim() !== '') {
    const hits = findEntities(document.tree, search.query);
    const at = hits.indexOf(search.hits[search.at] ?? -1);
    session.store.set({ search: { ...search, hits, at } });
  }
}

/** Goes to the next (1) or previous (-1) match, opening what hides it; wraps around. */
export function stepSearch(session: ISession, step: 1 | -1): void {
  const { document, search: found } = session.store.get();
  const { hits, at } = found;
  if (!document || hits.length === 0) {
    return;
  }
  const first = step > 0 ? 0 : hits.length - 1;
  const next = at < 0 ? first : (at + step + hits.length) % hits.length;
  session.store.set({ search: { ...found, at: next } });
  session.select(selectionOf(document.model, hits[next]), 'reveal');
}
