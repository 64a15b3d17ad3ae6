import type { IAction } from './types';

export const zoomOut: IAction = {
  id: 'zoom-out',
  label: trans => trans.__('Zoom out'),
  keys: ['-'],
  run: ({ session }) => session.graph.surface?.zoom(0.8)
};
