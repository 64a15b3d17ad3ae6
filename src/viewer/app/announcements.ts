/** Screen reader announcements for changes of selection and colours. */

import * as React from 'react';
import { OVERLAYS } from '../overlays';
import { scaleName } from '../overlays/scaleNames';
import { entityOf, selectionName } from '../session/entityNames';
import type { Session } from '../session/session';
import type { IViewerState } from '../state/types';
import type { ITranslate } from '../i18n/translate';
import { shortLabel } from '../ui/safeText';
import { focusedElement } from '../ui/focus';

/** Maximum length of a name in an announcement, which is heard rather than read. */
const MAX_CHARACTERS = 80;

/** Widgets whose focus, or active descendant, already announces the selection. */
const ANNOUNCED_KEYS = '[role=tree], [role=grid], [role=treegrid]';

/** True if a screen reader reads the entity anyway, because it has the focus. */
function isAnnounced(active: Element | null, entity: number | null): boolean {
  return (
    active !== null &&
    (active.closest(ANNOUNCED_KEYS) !== null ||
      (entity !== null &&
        active.getAttribute('data-entity') === String(entity)))
  );
}

function selectionText(
  { document, selection, moreSelected }: IViewerState,
  active: Element | null,
  trans: ITranslate
): string | null {
  if (!document || selection.kind === 'none') {
    return null;
  }
  const { model, tree } = document;
  if (moreSelected.length > 0) {
    const count = moreSelected.length + 1;
    return trans._n('%1 selected', '%1 selected', count);
  }
  const entity = entityOf(model, selection);
  if (isAnnounced(active, entity)) {
    return null;
  }
  const name = selectionName(tree, selection);
  return trans.__('Selected: %1', shortLabel(name, MAX_CHARACTERS));
}

/** One short sentence for the change; null if there is nothing to announce. */
export function stateChangeMessage(
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
  return before.selection !== after.selection ||
    before.moreSelected !== after.moreSelected
    ? selectionText(after, active, trans)
    : null;
}

/** Announces changes of the session's state, unless an action has set its own announcement. */
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
        const text = stateChangeMessage(last, now, focusedElement(), trans);
        if (text !== null) {
          session.store.set({ announcement: text });
        }
      }
    });
  }, [session, trans]);
}
