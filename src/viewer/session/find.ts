/** Searching: the query lives in the state, words are found by the core's index. */

import { SearchIndex } from '../../core/search';
import type { ITree } from '../../core/types';
import { NO_SEARCH } from '../state/types';
import { selectionOf } from './entities';
import { satisfies, splitQuery } from './query';
import type { Session } from './session';

/** An index is made when a model is searched first. */
const indexes = new WeakMap<ITree, SearchIndex>();

function indexOf(tree: ITree): SearchIndex {
  const index = indexes.get(tree) ?? new SearchIndex(tree);
  indexes.set(tree, index);
  return index;
}

/** Entities that match all words and bounds; best first, or in graph order when there are only bounds. */
export function findEntities(tree: ITree, query: string): number[] {
  const { words, bounds } = splitQuery(query);
  const count = tree.model.nodeCount + tree.groupCount;
  const found =
    words.trim() !== ''
      ? indexOf(tree)
          .search(words, count)
          .map(hit => hit.entity)
      : // Sums of groups would drown the nodes that make them up.
        Array.from({ length: tree.model.nodeCount }, (_, node) => node).filter(
          node => bounds.length > 0 && tree.model.nodeConstant[node] === 0
        );
  return found.filter(entity =>
    bounds.every(bound => satisfies(tree, entity, bound))
  );
}

/** Finds what matches; the picture only marks it until the user steps through. */
export function setQuery(session: Session, query: string): void {
  const { document } = session.store.get();
  if (query.trim() === '' || !document) {
    session.store.set({ search: { ...NO_SEARCH, query } });
    return;
  }
  const hits = findEntities(document.tree, query);
  session.store.set({ search: { query, hits, at: -1 } });
}

/** Goes to the next (1) or previous (-1) match, opening what hides it; wraps around. */
export function stepSearch(session: Session, step: 1 | -1): void {
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
