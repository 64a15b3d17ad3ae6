import { remember } from '../session/places';
import type { IAction } from './types';

export const collapseAll: IAction = {
  id: 'collapse-all',
  label: trans => trans.__('Collapse all'),
  keys: ['Shift+E'],
  run: ({ session }) => {
    remember(session);
    void session.stage.change(view => view.collapseAll(), undefined, true);
  }
};
