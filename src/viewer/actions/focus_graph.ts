import type { IAction } from './types';

export const focusGraph: IAction = {
  id: 'focus-graph',
  label: trans => trans.__('Move the focus to the graph'),
  keys: ['G'],
  run: ({ session }) => session.graph.surface?.focus()
};
