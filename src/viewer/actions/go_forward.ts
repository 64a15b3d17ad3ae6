import { goForward as forward } from '../session/navigationHistory';
import type { IAction } from './types';

export const goForward: IAction = {
  id: 'go-forward',
  label: trans => trans.__('Forward'),
  keys: ['Alt+ArrowRight'],
  enabled: state => state.historyForward.length > 0,
  run: ({ session }) => void forward(session)
};
