import { canTrace, startTrace } from '../session/traceActions';
import type { IAction } from './types';

export const traceAncestors: IAction = {
  id: 'trace-ancestors',
  label: trans => trans.__('Trace upstream nodes'),
  keys: ['A'],
  enabled: state => canTrace(state, 'ancestors'),
  run: ({ session }) => void startTrace(session, 'ancestors')
};

export const traceDescendants: IAction = {
  id: 'trace-descendants',
  label: trans => trans.__('Trace downstream nodes'),
  keys: ['Shift+A'],
  enabled: state => canTrace(state, 'descendants'),
  run: ({ session }) => void startTrace(session, 'descendants')
};

export const tracePaths: IAction = {
  id: 'trace-paths',
  label: trans => trans.__('Trace the paths between both'),
  keys: ['P'],
  enabled: state => canTrace(state, 'paths'),
  run: ({ session }) => void startTrace(session, 'paths')
};
