/** Traces tensors from the selection; the tracing code is loaded on first use. */

import { lazyCode } from '../lazy/lazyCode';
import type { IViewerState, TraceKind } from '../state/types';
import type { ISession } from './types';

const tracing = lazyCode(() => import('./showTrace'));

/** True if there is a starting point; paths need two. */
export function canTrace(state: IViewerState, kind: TraceKind): boolean {
  return kind === 'paths'
    ? state.selection.kind !== 'none' && state.moreSelected.length > 0
    : state.selection.kind !== 'none';
}

/** Shows what is upstream or downstream of the selection, or between two selected entities. */
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
