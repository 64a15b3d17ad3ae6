/** Stored views: camera, open blocks, heatmap and the device of its times. */

import { sameDevice, setDevice } from './device';
import { groupKeys, groupsOf, sameList } from './entities';
import { remember } from './places';
import type { Session } from './session';

export function storeView(session: Session, slot: string): void {
  const { bookmarks, overlay, device, document, direction } =
    session.store.get();
  const { camera } = session.stage;
  if (!camera || !document) {
    return;
  }
  const open = groupKeys(document.tree, session.stage.openGroups());
  session.store.set({
    bookmarks: {
      ...bookmarks,
      [slot]: { ...camera, open, overlay, device, direction }
    },
    announcement: session.trans.__('View %1 is stored.', slot)
  });
}

export async function recallView(
  session: Session,
  slot: string
): Promise<void> {
  const { bookmarks, document } = session.store.get();
  if (!document || !Object.hasOwn(bookmarks, slot)) {
    return;
  }
  const { open, overlay, device, direction, x, y, k } = bookmarks[slot];
  remember(session);
  if (device !== undefined && !sameDevice(device, session.store.get().device)) {
    setDevice(session, device);
  }
  if (overlay !== undefined) {
    session.store.set({ overlay });
  }
  const groups = open && groupsOf(document.tree, open);
  if (direction && direction !== session.store.get().direction) {
    session.store.set({ direction });
    await session.stage.settled();
  }
  if (groups && !sameList(groups, session.stage.openGroups())) {
    await session.stage.change(view => view.restore(groups));
  }
  session.stage.surface?.setCamera({ x, y, k }, true);
}
