import { createContext, useContext } from 'react';
import type { IAction } from '.';
import { keysOf } from './keyboard';
import type { BoundKeys } from '../state/api';

/** Keys bound by the host. */
export const KeysContext = createContext<BoundKeys>(null);

/** The keys of an action in this host; the first one is displayed. */
export function useKeys(): (action: IAction) => readonly string[] {
  const bound = useContext(KeysContext);
  return action => keysOf(action, bound);
}
