import { goForward as forward } from '../session/places';
import type { IAction } from './types';

export const goForward: IAction = {
  id: 'go-forward',
  label: trans => trans.__('Forward'),
  keys: ['Alt+ArrowRight'],
  enabled: state => state.forward.length > 0,
  run: ({ session }) => void forward(session)
};
