import { stepSelection, selectedRepeat } from '../session/repeatStepping';
import type { IAction } from './types';

export const nextPart: IAction = {
  id: 'next-part',
  label: trans => trans.__('Next instance of the repeat'),
  keys: ['PageDown', ']'],
  enabled: state => selectedRepeat(state) !== null,
  run: ({ session }) => void stepSelection(session, 1)
};

export const previousPart: IAction = {
  id: 'previous-part',
  label: trans => trans.__('Previous instance of the repeat'),
  keys: ['PageUp', '['],
  enabled: state => selectedRepeat(state) !== null,
  run: ({ session }) => void stepSelection(session, -1)
};
