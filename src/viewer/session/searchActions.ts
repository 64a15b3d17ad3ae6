/** Search: the state holds the query; grammar and matching are in the core. */

import { lazyCode } from '../lazy/lazyCode';
import { NO_SEARCH } from '../state/types';
import { selectionOf } from './entityNames';
import type { ISession } from './types';

export const searching = lazyCode(() => import('./searchCode'));

/** Runs a search; synchronous if the code is already loaded. */
function search(
  session: ISession,
  text: string,
  chooseIndex: (hits: readonly number[]) => number
): void {
  const run = ({
    parseQuery,
    findMatches
  }: typeof import('./searchCode')): void => {
    const { document, search } = session.store.get();
    if (document && search.query === text) {
      const { query, fault } = parseQuery(text);
      const hits = query === null ? [] : findMatches(document.tree, query);
      session.store.set({
        search: { query: text, hits, index: chooseIndex(hits), fault }
      });
    }
  };
  if (searching.now) {
    run(searching.now);
  } else {
    void searching.get().then(run);
  }
}

/** Finds matches; the graph only marks them until the user steps through them. */
export function setQuery(session: ISession, text: string): void {
  const { document, search: before } = session.store.get();
  const asks = text.trim() !== '' && document !== null;
  session.store.set({
    search: { ...(asks ? before : NO_SEARCH), query: text }
  });
  if (asks) {
    search(session, text, () => -1);
  }
}

/** Runs the query again on updated numbers; keeps the current match if it still matches. */
export function refreshMatches(session: ISession): void {
  const { document, search: before } = session.store.get();
  if (document && before.query.trim() !== '') {
    const match = before.hits[before.index] ?? -1;
    search(session, before.query, hits => hits.indexOf(match));
  }
}

/** Goes to the next (1) or previous (-1) match, revealing it; wraps around. */
export function stepSearch(session: ISession, step: 1 | -1): void {
  const { query } = session.store.get().search;
  if (!searching.now && query.trim() !== '') {
    // Requested before the first search has finished.
    void searching.get().then(() => stepSearch(session, step));
    return;
  }
  const { document, search } = session.store.get();
  const { hits, index } = search;
  if (!document || hits.length === 0) {
    return;
  }
  const first = step > 0 ? 0 : hits.length - 1;
  const next = index < 0 ? first : (index + step + hits.length) % hits.length;
  session.store.set({ search: { ...search, index: next } });
  session.select(selectionOf(document.model, hits[next]), 'reveal');
}
