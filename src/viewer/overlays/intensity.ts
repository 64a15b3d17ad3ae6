import { intensityOf } from '../../core/intensity';
import { metricOf } from './metric';
import type { IOverlayDefinition } from './types';

/**
 * Arithmetic intensity: FLOPs per byte of tensor traffic, unfused. Low values wait for memory. Of a
 * group it is the quotient of its sums.
 */
export const intensity: IOverlayDefinition<'intensity'> = {
  id: 'intensity',
  label: trans => trans.__('Arithmetic intensity'),
  unit: 'FLOP/B',
  additive: false,
  value: (tree, entity) => {
    const flops = metricOf(tree, 'flops', entity);
    const moved =
      metricOf(tree, 'read_bytes', entity) +
      metricOf(tree, 'write_bytes', entity);
    return intensityOf(flops, moved);
  }
};
