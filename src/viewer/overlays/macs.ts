import { metricOf } from './metric';
import type { IOverlayDefinition } from './types';

/** Multiply-accumulates of one inference. */
export const macs: IOverlayDefinition<'macs'> = {
  id: 'macs',
  label: trans => trans.__('MACs'),
  unit: 'MACs',
  value: (tree, entity) => metricOf(tree, 'macs', entity)
};
