import type { ITree } from '../../core/types';
import { changes } from './changesOverlay';
import { SHOWN, type HeatmapMetric } from '../../schema/metrics';
import { heatmapOf } from './heatmap';
import type { IOverlayDefinition } from './types';
import { user } from './userOverlay';

export type { IOverlayDefinition } from './types';
export { setChanges } from './changesOverlay';
export { setUserValues } from './userOverlay';
export type { IUserValues } from './userOverlay';

export type OverlayId = HeatmapMetric | 'user' | 'changes';

/** The overlays of the shared table of metrics, plus the host's values and changes. */
export const OVERLAYS = {
  ...Object.fromEntries(SHOWN.heatmap.map(id => [id, heatmapOf(id)])),
  user,
  changes
} as { readonly [Id in OverlayId]: IOverlayDefinition<Id> };

/** In the order of the picker and of the H key. */
export const OVERLAY_IDS = Object.keys(OVERLAYS) as OverlayId[];

export function isOverlayId(value: unknown): value is OverlayId {
  return typeof value === 'string' && Object.hasOwn(OVERLAYS, value);
}

/** The first overlay with something to show: MACs, else parameters, else none. */
export function defaultOverlay(tree: ITree): OverlayId | null {
  const hasValues = (id: OverlayId): boolean =>
    tree.children[0].some(entity => OVERLAYS[id].value(tree, entity) > 0);
  return hasValues('macs') ? 'macs' : hasValues('params') ? 'params' : null;
}

/** The overlays that are available for a model. */
export function availableOverlays(tree: ITree | null): OverlayId[] {
  return OVERLAY_IDS.filter(id => {
    const definition: IOverlayDefinition = OVERLAYS[id];
    return (tree && definition.available?.(tree)) ?? !definition.available;
  });
}

/** The next overlay; the last one is followed by none, then the first. */
export function nextOverlay(
  id: OverlayId | null,
  tree: ITree | null
): OverlayId | null {
  const offered = availableOverlays(tree);
  return offered[id === null ? 0 : offered.indexOf(id) + 1] ?? null;
}
