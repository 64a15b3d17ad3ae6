/** Stored views: camera, open blocks, what is left out, heatmap and the device of its times. */

import { sameDevice, setDevice } from './device';
import { groupKeys, groupsOf, sameList, sameRows } from './entities';
import { hiddenOf, hiddenRecord } from './hide';
import { remember } from './places';
import type { ISession } from './types';

export function storeView(session: ISession, slot: string): void {
  const state = session.store.get();
  const { bookmarks, overlay, scale, device, document, direction } = state;
  const { camera } = session.stage;
  if (!camera || !document) {
    return;
  }
  const open = groupKeys(document.tree, session.stage.openGroups());
  const hidden =
    state.hidden.length > 0
      ? hiddenRecord(document, state.hidden)
      : { of: document.model.payload.model.identity, ranges: [] };
  const { rows } = session.stage;
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
  if (!document || !Object.hasOwn(bookmarks, slot)) {
    return;
  }
  const { open, overlay, scale, device, direction, rows } = bookmarks[slot];
  const { x, y, k } = bookmarks[slot];
  remember(session);
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
    await session.stage.settled();
  }
  const record = bookmarks[slot].hidden;
  const own = record?.of === document.model.payload.model.identity;
  const hidden = own ? hiddenOf(document, record) : session.store.get().hidden;
  const here = session.stage.openGroups();
  if (
    !sameList(groups ?? here, here) ||
    !sameList(hidden, session.store.get().hidden) ||
    (rows !== undefined && !sameRows(rows, session.stage.rows))
  ) {
    await session.stage.change(view =>
      view.restore(groups ?? here, hidden, rows)
    );
  }
  session.stage.surface?.setCamera({ x, y, k }, true);
  session.store.set({ announcement: session.trans.__('View %1', slot) });
}
