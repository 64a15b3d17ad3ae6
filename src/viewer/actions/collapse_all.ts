import { recordHistory } from '../session/navigationHistory';
import type { IAction } from './types';

export const collapseAll: IAction = {
  id: 'collapse-all',
  label: trans => trans.__('Collapse all'),
  keys: ['Shift+E'],
  run: ({ session }) => {
    recordHistory(session);
    void session.graph.transition(view => view.collapseAll(), undefined, true);
  }
};
