import type { IAction } from './types';

export const fit: IAction = {
  id: 'fit',
  label: trans => trans.__('Fit to the view'),
  keys: ['F', 'Space'],
  run: ({ session }) => session.graph.surface?.fit(true)
};
