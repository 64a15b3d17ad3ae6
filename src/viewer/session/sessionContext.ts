/** React contexts available in all parts of the viewer. */

import { createContext, useContext } from 'react';
import type { Session } from './session';
import { useStore } from '../state/store';
import type { IDocument, IViewerState } from '../state/types';
export const SessionContext = createContext<Session | null>(null);

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === null) {
    throw new Error('This component must stand inside a Viewer.');
  }
  return session;
}

/** A part of the viewer's state: a stored value or a primitive, never a new object. */
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
