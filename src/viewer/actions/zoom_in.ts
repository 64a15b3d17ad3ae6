import type { IAction } from './types';

export const zoomIn: IAction = {
  id: 'zoom-in',
  label: trans => trans.__('Zoom in'),
  keys: ['+', '='],
  run: ({ session }) => session.graph.surface?.zoom(1.25)
};
