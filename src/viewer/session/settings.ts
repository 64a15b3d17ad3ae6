/** The host's settings: what a new view starts with, what follows at once when one of them changes. */

import type { IViewerSettings } from '../state/api';
import { availableOverlays, defaultOverlay } from '../overlays';
import type { ISnapshot } from '../state/snapshot';
import type { IDocument, IViewerState } from '../state/types';
import { initialDevice, sameDevice, setDevice } from './deviceActions';
import { recordHistory } from './navigationHistory';
import type { ISession } from './types';

/** The overlay that a new view of the model opens with. */
export function initialOverlay(
  { overlay }: IViewerSettings,
  tree: IDocument['tree']
): IViewerState['overlay'] {
  if (overlay === 'none') {
    return null;
  }
  return overlay !== 'auto' && availableOverlays(tree).includes(overlay)
    ? overlay
    : defaultOverlay(tree);
}

/** The parts of the state that settings give a new view. */
function startOf(settings: IViewerSettings): Partial<IViewerState> {
  const { logScale, showNames, showWeights, direction } = settings;
  const scale = logScale ? 'log' : 'linear';
  return { scale, showNames, showWeights, direction };
}

/**
 * Takes other settings. What a changed one is about follows at once, also where the reader had chosen
 * something else for this view; what did not change stays as it is.
 */
export function applySettings(session: ISession, next: IViewerSettings): void {
  const before = session.settings;
  const changed = (key: keyof IViewerSettings): boolean =>
    before[key] !== next[key];
  session.settings = next;
  session.graph.setSettings(next);
  const [old, start] = [startOf(before), startOf(next)];
  const keys = Object.keys(start) as (keyof IViewerState)[];
  session.store.set(
    Object.fromEntries(
      keys.filter(key => old[key] !== start[key]).map(key => [key, start[key]])
    )
  );
  const { document, bindings } = session.store.get();
  const estimate = ['device', 'precision', 'runtime'] as const;
  if (document && estimate.some(changed)) {
    setDevice(session, initialDevice(next, document.model.payload));
  }
  if (document && changed('overlay')) {
    session.store.set({ overlay: initialOverlay(next, document.tree) });
  }
  if (document && changed('boxBudget')) {
    recordHistory(session);
    void session.graph.show(document);
  }
  if (changed('assumeDims') && Object.keys(bindings).length === 0) {
    void session.bind({}, next.assumeDims);
  }
}

/** A snapshot without what the settings give anyway: later settings then hold for this view too. */
export function withoutDefaults(
  session: ISession,
  snapshot: ISnapshot
): ISnapshot {
  const { document, device } = session.store.get();
  const { settings } = session;
  const first = document && initialDevice(settings, document.model.payload);
  const given: Record<string, unknown> = {
    ...startOf(settings),
    assume: settings.assumeDims,
    ...(document && {
      overlay: initialOverlay(settings, document.tree),
      // Equal choices are one, whichever object they are.
      device: sameDevice(first, device) ? device : first
    })
  };
  return Object.fromEntries(
    Object.entries(snapshot).filter(
      ([key, value]) => !Object.hasOwn(given, key) || given[key] !== value
    )
  ) as unknown as ISnapshot;
}
