/** A small observable value. React reads it with `useStore`; other code calls `get` and `set`. */

import { useCallback, useRef, useSyncExternalStore } from 'react';

export interface IStore<T extends object> {
  get(): T;
  /** Merges the change; listeners are called only if a field really changed. */
  set(change: Partial<T>): void;
  /** Returns a function that unsubscribes. */
  subscribe(listener: () => void): () => void;
}

/** `normalize` makes every new state consistent, whoever changed it. */
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
 * Subscribes to a part of the store; the component re-renders only if that part changes. `select` must
 * return stored values or primitives, not new objects.
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
