import { intensityOf } from '../../core/intensity';
import { lacksParts, metricOf } from './metric';
import type { IOverlayDefinition } from './types';

const PARTS = ['flops', 'read_bytes', 'write_bytes'] as const;

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
    // A quotient of sums that lack parts is no bound on anything.
    const [flops, read, written] = PARTS.map(part =>
      lacksParts(tree, part, entity) ? Number.NaN : metricOf(tree, part, entity)
    );
    return intensityOf(flops, read + written);
  }
};
