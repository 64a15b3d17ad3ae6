/** Opening and closing the parts around the graph. */

import type { DrawerTab, IPanels, PanelMode } from '../state/types';
import type { Selection } from '../state/types';
import type { ISession } from './types';

/** Below this width of the viewer, panels lie over the graph. */
export const NARROW = 800;
/** From this width on there is room for the side panels without being asked. */
export const WIDE = 1400;

/** Whether a panel shows, given the viewer's width, what is selected, and whether a view is linked. */
export function isShown(
  panel: 'outline' | 'inspector',
  mode: PanelMode,
  width: number,
  selection: Selection,
  linked: boolean
): boolean {
  if (mode !== 'auto') {
    return mode === 'open';
  }
  // Over the graph, a panel that opened with the first click would catch the second of a double click.
  // Where two graphs stand side by side, it would cover one whenever something is selected in the other.
  const covers = width < NARROW && (linked || selection.kind === 'group');
  return (
    width >= WIDE ||
    (panel === 'inspector' && selection.kind !== 'none' && !covers)
  );
}

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
  const { panels, selection, linkedView } = session.store.get();
  const width = root?.clientWidth || WIDE;
  const linked = linkedView !== null;
  const shown = isShown(panel, panels[panel], width, selection, linked);
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
