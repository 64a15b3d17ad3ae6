/** A small observable value. React reads it with `useStore`; everything else calls `get` and `set`. */

import { useCallback, useRef, useSyncExternalStore } from 'react';

export interface IStore<T extends object> {
  get(): T;
  /** Merges; listeners run only when a field really changed. */
  set(change: Partial<T>): void;
  /** Returns the way to stop listening. */
  subscribe(listener: () => void): () => void;
}

/** `settled` makes a new state hold together, whoever changed it. */
export function createStore<T extends object>(
  initial: T,
  normalize: (before: T, next: T) => T = (_, next) => next
): IStore<T> {
  let state = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => state,
    set(change) {
      const keys = Object.keys(change) as (keyof T)[];
      if (keys.every(key => Object.is(state[key], change[key]))) {
        return;
      }
      state = normalize(state, { ...state, ...change });
      // A listener may unsubscribe others while it runs.
      for (const listener of [...listeners]) {
        listener();
      }
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    }
  };
}

/**
 * A part of the store; the component renders again only when that part changes. `select` must return
 * stored values or primitives, not fresh objects.
 */
export function useStore<T extends object, S>(
  store: IStore<T>,
  select: (state: T) => S
): S {
  const latest = useRef(select);
  latest.current = select;
  const read = useCallback(() => latest.current(store.get()), [store]);
  return useSyncExternalStore(store.subscribe, read, read);
}
