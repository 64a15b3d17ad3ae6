/** Highlights nodes while something outside the graph points at them. */

import type { ISession } from './types';

/** Maximum number of highlighted nodes; more are not informative and slow to draw. */
const MAX_MARKS = 2000;
const NONE: readonly number[] = [];

export function highlightEntities(
  session: ISession,
  nodes: readonly number[]
): void {
  const { externalHighlight } = session.store.get();
  const next = nodes.length === 0 ? NONE : nodes.slice(0, MAX_MARKS);
  const isUnchanged =
    next.length === externalHighlight.length &&
    next.every((node, index) => node === externalHighlight[index]);
  if (!isUnchanged) {
    session.store.set({ externalHighlight: next });
  }
}
