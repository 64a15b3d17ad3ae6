/** Something outside the picture points at nodes: they are marked while it does. */

import type { ISession } from './types';

/** More marks than this say nothing and take long to draw. */
const MOST = 2000;
const NONE: readonly number[] = [];

export function pointAt(session: ISession, nodes: readonly number[]): void {
  const { pointed } = session.store.get();
  const next = nodes.length === 0 ? NONE : nodes.slice(0, MOST);
  const same =
    next.length === pointed.length &&
    next.every((node, at) => node === pointed[at]);
  if (!same) {
    session.store.set({ pointed: next });
  }
}
