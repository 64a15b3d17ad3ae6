import { metricOf } from './metric';
import type { IOverlayDefinition } from './types';

/** Parameters that a node is the first to use. */
export const params: IOverlayDefinition<'params'> = {
  id: 'params',
  label: trans => trans.__('Parameters'),
  unit: 'params',
  value: (tree, entity) => metricOf(tree, 'params', entity)
};
