import { metricOf } from './metric';
import type { IOverlayDefinition } from './types';

/** Floating point operations of one inference: 2 a MAC, plus the rest of the arithmetic. */
export const flops: IOverlayDefinition<'flops'> = {
  id: 'flops',
  label: trans => trans.__('FLOPs'),
  unit: 'FLOPs',
  value: (tree, entity) => metricOf(tree, 'flops', entity)
};
