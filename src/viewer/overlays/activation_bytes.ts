import { metricOf } from './metric';
import type { IOverlayDefinition } from './types';

/** Bytes of the outputs. */
export const activationBytes: IOverlayDefinition<'activation_bytes'> = {
  id: 'activation_bytes',
  label: trans => trans.__('Activation bytes'),
  unit: 'bytes',
  value: (tree, entity) => metricOf(tree, 'activation_bytes', entity)
};
