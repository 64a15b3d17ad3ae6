/** History of selections and views for Back and Forward. */

import type { IHistoryEntry, Selection } from '../state/types';
import { sameList, sameRows, sameSelection } from './entityNames';
import type { ISession } from './types';

/** Maximum number of entries. */
const MAX_HISTORY = 100;

function captureEntry(session: ISession): IHistoryEntry {
  const { selection, moreSelected, hidden, direction } = session.store.get();
  const { graph } = session;
  return {
    selection,
    moreSelected,
    hidden,
    direction,
    open: graph.openGroups(),
    rows: graph.rows,
    camera: graph.camera
  };
}

function samePicture(a: IHistoryEntry, b: IHistoryEntry): boolean {
  return (
    sameList(a.open, b.open) &&
    sameList(a.hidden, b.hidden) &&
    a.direction === b.direction &&
    sameRows(a.rows, b.rows)
  );
}

/** True for the same graph and selection, whatever the camera. */
function sameEntry(a: IHistoryEntry, b: IHistoryEntry): boolean {
  return (
    sameSelection(a.selection, b.selection) &&
    sameList(a.moreSelected, b.moreSelected) &&
    samePicture(a, b)
  );
}

function withEntry(
  list: readonly IHistoryEntry[],
  entry: IHistoryEntry
): readonly IHistoryEntry[] {
  const last = list[list.length - 1];
  return last && sameEntry(last, entry)
    ? list
    : [...list, entry].slice(-MAX_HISTORY);
}

/** Call before a change: Back returns to the current state. */
export function recordHistory(session: ISession): void {
  const { historyBack, document } = session.store.get();
  if (document) {
    session.store.set({
      historyBack: withEntry(historyBack, captureEntry(session)),
      historyForward: []
    });
  }
}

/** Selects something and records the previous selection in the history. */
export function selectWithHistory(
  session: ISession,
  selection: Selection
): void {
  const { selection: before } = session.store.get();
  if (before.kind !== 'none') {
    recordHistory(session);
  }
  session.store.set({ selection, moreSelected: [] });
}

/** Restores the last entry of one list and records the current state in the other. */
async function navigate(session: ISession, forward: boolean): Promise<void> {
  const state = session.store.get();
  const from = forward ? state.historyForward : state.historyBack;
  const entry = from[from.length - 1];
  if (!entry || !state.document) {
    return;
  }
  const current = captureEntry(session);
  const earlier = from.slice(0, -1);
  const { selection, moreSelected, direction } = entry;
  session.store.set({
    selection,
    moreSelected,
    direction,
    ...(forward
      ? {
          historyForward: earlier,
          historyBack: withEntry(state.historyBack, current)
        }
      : {
          historyBack: earlier,
          historyForward: withEntry(state.historyForward, current)
        })
  });
  const { graph } = session;
  if (!samePicture(entry, current)) {
    await graph.whenDirectionApplied();
    await graph.transition(view =>
      view.restore(entry.open, entry.hidden, entry.rows)
    );
  }
  if (entry.camera) {
    graph.surface?.setCamera(entry.camera, true);
  }
}

export const goBack = (session: ISession): Promise<void> =>
  navigate(session, false);

export const goForward = (session: ISession): Promise<void> =>
  navigate(session, true);
