/** Following tensors from what is selected; the search itself is fetched when it is first used. */

import { piece } from '../lazy/lazily';
import type { IViewerState, TraceKind } from '../state/types';
import type { ISession } from './types';

const tracing = piece(() => import('./showTrace'));

/** Whether there is something to start from: for paths, two things. */
export function canTrace(state: IViewerState, kind: TraceKind): boolean {
  return kind === 'paths'
    ? state.selection.kind !== 'none' && state.moreSelected.length > 0
    : state.selection.kind !== 'none';
}

/** Shows what leads to the selection, what comes of it, or what lies between two selected things. */
export async function startTrace(
  session: ISession,
  kind: TraceKind
): Promise<void> {
  const { showTrace } = tracing.now ?? (await tracing.get());
  const state = session.store.get();
  if (state.document && canTrace(state, kind)) {
    showTrace(session, state.document, state, kind);
  }
}

export function endTrace(session: ISession): void {
  session.store.set({ trace: null });
}
