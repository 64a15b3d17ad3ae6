import type { IAction } from './types';

export const rescale: IAction = {
  id: 'rescale',
  label: trans => trans.__('Rescale the colours to the view'),
  keys: ['Shift+H'],
  enabled: state => state.overlayRange?.isKept ?? false,
  run: ({ session }) => session.graph.rescale()
};
