/** Opening and closing the parts around the graph. */

import type { DrawerTab, IPanels } from '../state/types';
import { isShown, NARROW, WIDE } from './panelVisibility';
import type { ISession } from './types';

export function setPanels(session: ISession, change: Partial<IPanels>): void {
  const { panels } = session.store.get();
  session.store.set({ panels: { ...panels, ...change } });
}

/** Opens the inspector for what is selected, where it would not open by itself. */
export function showDetails(session: ISession): void {
  const { panels, linkedView } = session.store.get();
  if (panels.inspector === 'closed' || linkedView) {
    setPanels(session, { inspector: 'open' });
  }
}

/** Opens what is closed and closes what is open; over the graph, only one at a time. */
export function togglePanel(
  session: ISession,
  panel: 'outline' | 'inspector',
  root: HTMLElement | null
): void {
  const state = session.store.get();
  const width = root?.clientWidth || WIDE;
  const shown = isShown(panel, state, width);
  const other = panel === 'outline' ? 'inspector' : 'outline';
  setPanels(session, {
    [panel]: shown ? 'closed' : 'open',
    ...(width < NARROW && !shown ? { [other]: 'closed' } : {})
  });
}

/** Shows a drawer tab; asked twice with `toggle`, closes the drawer. */
export function showTab(
  session: ISession,
  tab: DrawerTab,
  toggle = false
): void {
  const { panels } = session.store.get();
  const close = toggle && panels.drawer && panels.tab === tab;
  setPanels(session, { drawer: !close, tab });
}
