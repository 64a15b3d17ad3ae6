import { recordHistory } from '../session/navigationHistory';
import type { IAction } from './types';

/** More boxes are unreadable in one view; the remaining groups stay collapsed. */
const MAX_BOXES = 60_000;

export const expandAll: IAction = {
  id: 'expand-all',
  label: trans => trans.__('Expand all'),
  keys: ['E'],
  run: ({ session }) => {
    recordHistory(session);
    void session.graph.transition(
      view => view.expandAll(MAX_BOXES),
      undefined,
      true
    );
  }
};
