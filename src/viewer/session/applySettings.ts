/** Applies the host's settings: defaults of new views, and changes while a view is open. */

import type { IViewerSettings } from '../state/api';
import { availableOverlays, defaultOverlay } from '../overlays';
import type { ISnapshot } from '../state/snapshot';
import type { IDocument, IViewerState } from '../state/types';
import { initialDevice, sameDevice, setDevice } from './deviceActions';
import { recordHistory } from './navigationHistory';
import type { ISession } from './types';
import { ownValue } from '../../core/base/ownValue';

/** The initial overlay of a model's view. */
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

/** The initial state from the settings. */
function initialFields(settings: IViewerSettings): Partial<IViewerState> {
  const { logScale, showNames, showWeights, direction } = settings;
  const scale = logScale ? 'log' : 'linear';
  return { scale, showNames, showWeights, direction };
}

/**
 * Applies changed settings to this view, even if the user had chosen something else in it; unchanged ones
 * have no effect.
 */
export function applySettings(session: ISession, next: IViewerSettings): void {
  const before = session.settings;
  const changed = (key: keyof IViewerSettings): boolean =>
    before[key] !== next[key];
  session.settings = next;
  session.graph.setSettings(next);
  const [old, start] = [initialFields(before), initialFields(next)];
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

/**
 * The snapshot without values equal to the settings, so that later changes of settings apply to this view
 * too.
 */
export function withoutDefaults(
  session: ISession,
  snapshot: ISnapshot
): ISnapshot {
  const { document, device } = session.store.get();
  const { settings } = session;
  const first = document && initialDevice(settings, document.model.payload);
  const values: Record<string, unknown> = {
    ...initialFields(settings),
    assume: settings.assumeDims,
    ...(document && {
      overlay: initialOverlay(settings, document.tree),
      // Equal choices may be different objects.
      device: sameDevice(first, device) ? device : first
    })
  };
  return Object.fromEntries(
    Object.entries(snapshot).filter(
      ([key, value]) =>
        !Object.hasOwn(values, key) || ownValue(values, key) !== value
    )
  ) as unknown as ISnapshot;
}
