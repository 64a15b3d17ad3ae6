/** Something outside the picture points at nodes: they are marked while it does. */

import type { ISession } from './types';

/** More marks than this say nothing and take long to draw. */
const MAX_MARKS = 2000;
const NONE: readonly number[] = [];

export function highlightEntities(
  session: ISession,
  nodes: readonly number[]
): void {
  const { externalHighlight } = session.store.get();
  const next = nodes.length === 0 ? NONE : nodes.slice(0, MAX_MARKS);
  const same =
    next.length === externalHighlight.length &&
    next.every((node, at) => node === externalHighlight[at]);
  if (!same) {
    session.store.set({ externalHighlight: next });
  }
}
