/** Saved views: camera, expanded blocks, hidden entities, heatmap and its device. */

import { sameDevice, setDevice } from './deviceActions';
import { groupKeys, groupsOf, sameList, sameRows } from './entityNames';
import { hiddenOf, hiddenRecord } from './hideActions';
import { recordHistory } from './navigationHistory';
import type { ISession } from './types';
import { ownValue } from '../../core/base/ownValue';

export function storeView(session: ISession, slot: string): void {
  const state = session.store.get();
  const { bookmarks, overlay, scale, device, document, direction } = state;
  const { camera } = session.graph;
  if (!camera || !document) {
    return;
  }
  const open = groupKeys(document.tree, session.graph.openGroups());
  const hidden =
    state.hidden.length > 0
      ? hiddenRecord(document, state.hidden)
      : { of: document.model.payload.model.identity, ranges: [] };
  const { rows } = session.graph;
  const look = { overlay, scale, device, direction, rows };
  session.store.set({
    bookmarks: { ...bookmarks, [slot]: { ...camera, open, hidden, ...look } },
    announcement: session.trans.__('View %1 saved.', slot)
  });
}

export async function recallView(
  session: ISession,
  slot: string
): Promise<void> {
  const { bookmarks, document } = session.store.get();
  const saved = ownValue(bookmarks, slot);
  if (!document || !saved) {
    return;
  }
  const { open, overlay, scale, device, direction, rows } = saved;
  const { x, y, k } = saved;
  recordHistory(session);
  if (device !== undefined && !sameDevice(device, session.store.get().device)) {
    setDevice(session, device);
  }
  if (overlay !== undefined) {
    session.store.set({ overlay });
  }
  if (scale !== undefined) {
    session.store.set({ scale });
  }
  const groups = open && groupsOf(document.tree, open);
  if (direction && direction !== session.store.get().direction) {
    session.store.set({ direction });
    await session.graph.whenDirectionApplied();
  }
  const record = saved.hidden;
  const isOwn = record?.of === document.model.payload.model.identity;
  const hidden = isOwn
    ? hiddenOf(document, record)
    : session.store.get().hidden;
  const openGroups = session.graph.openGroups();
  if (
    !sameList(groups ?? openGroups, openGroups) ||
    !sameList(hidden, session.store.get().hidden) ||
    (rows !== undefined && !sameRows(rows, session.graph.rows))
  ) {
    await session.graph.transition(view =>
      view.restore(groups ?? openGroups, hidden, rows)
    );
  }
  session.graph.surface?.setCamera({ x, y, k }, true);
  session.store.set({ announcement: session.trans.__('View %1', slot) });
}
