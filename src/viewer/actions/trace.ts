import { canTrace, startTrace } from '../session/trace';
import type { IAction } from './types';

export const traceAncestors: IAction = {
  id: 'trace-ancestors',
  label: trans => trans.__('Trace what leads here'),
  keys: ['A'],
  enabled: state => canTrace(state, 'ancestors'),
  run: ({ session }) => startTrace(session, 'ancestors')
};

export const traceDescendants: IAction = {
  id: 'trace-descendants',
  label: trans => trans.__('Trace what comes of it'),
  keys: ['Shift+A'],
  enabled: state => canTrace(state, 'descendants'),
  run: ({ session }) => startTrace(session, 'descendants')
};

export const tracePaths: IAction = {
  id: 'trace-paths',
  label: trans => trans.__('Trace the paths between the selected two'),
  keys: ['P'],
  enabled: state => canTrace(state, 'paths'),
  run: ({ session }) => startTrace(session, 'paths')
};
