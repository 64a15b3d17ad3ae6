import { metricOf } from './metric';
import type { IOverlayDefinition } from './types';

/** Bytes of the weights at their stored types. */
export const weightBytes: IOverlayDefinition<'weight_bytes'> = {
  id: 'weight_bytes',
  label: trans => trans.__('Weight bytes'),
  unit: 'bytes',
  value: (tree, entity) => metricOf(tree, 'weight_bytes', entity)
};
