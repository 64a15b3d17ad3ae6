/** Opens and closes the panels around the graph. */

import type { DrawerTab, IPanels } from '../state/types';
import { isShown, NARROW, WIDE } from './panelVisibility';
import type { ISession } from './types';

export function setPanels(session: ISession, change: Partial<IPanels>): void {
  const { panels } = session.store.get();
  session.store.set({ panels: { ...panels, ...change } });
}

/** Opens the inspector for the selection if it does not open automatically. */
export function showDetails(session: ISession): void {
  const { panels, linkedView } = session.store.get();
  if (panels.inspector === 'closed' || linkedView) {
    setPanels(session, { inspector: 'open' });
  }
}

/** Toggles a panel; over the graph, only one is open at a time. */
export function togglePanel(
  session: ISession,
  panel: 'outline' | 'inspector',
  root: HTMLElement | null
): void {
  const state = session.store.get();
  const width = root?.clientWidth || WIDE;
  const isVisible = isShown(panel, state, width);
  const other = panel === 'outline' ? 'inspector' : 'outline';
  setPanels(session, {
    [panel]: isVisible ? 'closed' : 'open',
    ...(width < NARROW && !isVisible ? { [other]: 'closed' } : {})
  });
}

/** Shows a tab of the bottom panel; with `toggle`, closes the panel if the tab is already shown. */
export function showTab(
  session: ISession,
  tab: DrawerTab,
  toggle = false
): void {
  const { panels } = session.store.get();
  const close = toggle && panels.drawer && panels.tab === tab;
  setPanels(session, { drawer: !close, tab });
}
