import type { ITree } from '../../core/types';
import { activationBytes } from './activation_bytes';
import { flops } from './flops';
import { macs } from './macs';
import { params } from './params';
import type { IOverlayDefinition } from './types';
import { weightBytes } from './weight_bytes';

export type { IOverlayDefinition } from './types';

export type OverlayId =
  'macs' | 'flops' | 'params' | 'activation_bytes' | 'weight_bytes';

/** To add one: a file beside these, an id above, a line here. */
export const OVERLAYS = {
  macs,
  flops,
  params,
  activation_bytes: activationBytes,
  weight_bytes: weightBytes
} satisfies { [Id in OverlayId]: IOverlayDefinition<Id> };

/** In the order of the picker and of the H key. */
export const OVERLAY_IDS = Object.keys(OVERLAYS) as OverlayId[];

export function isOverlayId(value: unknown): value is OverlayId {
  return typeof value === 'string' && Object.hasOwn(OVERLAYS, value);
}

/** The first overlay that has something to show: MACs, else parameters, else none. */
export function defaultOverlay(tree: ITree): OverlayId | null {
  const some = (id: OverlayId): boolean =>
    tree.children[0].some(entity => OVERLAYS[id].value(tree, entity) > 0);
  return some('macs') ? 'macs' : some('params') ? 'params' : null;
}

/** The overlay after this one; none comes between the last and the first. */
export function nextOverlay(id: OverlayId | null): OverlayId | null {
  const at = id === null ? -1 : OVERLAY_IDS.indexOf(id);
  return OVERLAY_IDS[at + 1] ?? null;
}
