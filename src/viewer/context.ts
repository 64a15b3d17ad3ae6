/** What every part of the viewer may ask for. */

import { createContext, useContext } from 'react';
import type { IAction } from './actions';
import { keysOf, type BoundKeys } from './keyboard';
import type { Session } from './session/session';
import { useStore } from './state/store';
import type { IDocument, IViewerState } from './state/types';
import { IDENTITY, type ITranslate } from './translate';

export const TranslateContext = createContext<ITranslate>(IDENTITY);
export const SessionContext = createContext<Session | null>(null);

/** Keys that the host has bound. */
export const KeysContext = createContext<BoundKeys>(null);

/** The keys of an action in this host; the first is the one to show. */
export function useKeys(): (action: IAction) => readonly string[] {
  const bound = useContext(KeysContext);
  return action => keysOf(action, bound);
}

export function useTrans(): ITranslate {
  return useContext(TranslateContext);
}

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === null) {
    throw new Error('This component must stand inside a Viewer.');
  }
  return session;
}

/** A part of the viewer's state: a stored value or a primitive, never a fresh object. */
export function useView<S>(select: (state: IViewerState) => S): S {
  return useStore(useSession().store, select);
}

/** The loaded model. Only below the loading gate. */
export function useDocument(): IDocument {
  const document = useView(state => state.document);
  if (document === null) {
    throw new Error('No model is loaded here.');
  }
  return document;
}
