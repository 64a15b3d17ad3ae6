/** What is said to those who cannot see that the selection or the colours have changed. */

import * as React from 'react';
import { OVERLAYS } from './overlays';
import { scaleName } from './overlays/names';
import { entityOf, selectionName } from './session/entities';
import type { Session } from './session/session';
import type { IViewerState } from './state/types';
import type { ITranslate } from './translate';
import { brief } from './ui/text';
import { focused } from './ui/focus';

/** Names in an announcement are cut here: it is listened to, not read. */
const LONGEST = 80;

/** Places whose own focus, or active descendant, tells what is selected. */
const TELLING = '[role=tree], [role=grid], [role=treegrid]';

/** Whether a screen reader reads the entity anyway, since it has the focus. */
function isHeard(active: Element | null, entity: number | null): boolean {
  return (
    active !== null &&
    (active.closest(TELLING) !== null ||
      (entity !== null &&
        active.getAttribute('data-entity') === String(entity)))
  );
}

function selectionText(
  { document, selection, also }: IViewerState,
  active: Element | null,
  trans: ITranslate
): string | null {
  if (!document || selection.kind === 'none') {
    return null;
  }
  const { model, tree } = document;
  if (also.length > 0) {
    const count = also.length + 1;
    return trans._n('%1 selected', '%1 selected', count);
  }
  const entity = entityOf(model, selection);
  if (isHeard(active, entity)) {
    return null;
  }
  const name = selectionName(tree, selection);
  return trans.__('Selected: %1', brief(name, LONGEST));
}

/** One short sentence for the change; null when there is nothing to say. */
export function changeText(
  before: IViewerState,
  after: IViewerState,
  active: Element | null,
  trans: ITranslate
): string | null {
  const { overlay, scale, document } = after;
  if (before.document !== document) {
    return null;
  }
  if (before.overlay !== overlay) {
    return overlay === null
      ? trans.__('Heatmap off')
      : trans.__('Heatmap: %1', OVERLAYS[overlay].label(trans, document?.tree));
  }
  if (before.scale !== scale && overlay !== null) {
    return trans.__('Colours: %1', scaleName(scale, trans));
  }
  return before.selection !== after.selection || before.also !== after.also
    ? selectionText(after, active, trans)
    : null;
}

/** Announces changes of the session's state; what an action says of itself goes first. */
export function useAnnouncements(
  session: Session | null,
  trans: ITranslate
): void {
  React.useEffect(() => {
    let before = session?.store.get();
    return session?.store.subscribe(() => {
      const last = before;
      const now = session.store.get();
      before = now;
      if (last && last.announcement === now.announcement) {
        const text = changeText(last, now, focused(), trans);
        if (text !== null) {
          session.store.set({ announcement: text });
        }
      }
    });
  }, [session, trans]);
}
