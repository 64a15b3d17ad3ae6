import type { IAction } from './types';

export const actualSize: IAction = {
  id: 'actual-size',
  label: trans => trans.__('Zoom to 100 %'),
  keys: ['Shift+Backspace'],
  run: ({ session }) => session.graph.surface?.actualSize()
};
