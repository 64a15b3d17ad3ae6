import { selectedEntities } from '../session/hide';
import { selectSameType } from '../session/selecting';
import type { IAction } from './types';

export const selectSame: IAction = {
  id: 'select-same',
  label: trans => trans.__('Select all of the same type'),
  keys: ['S'],
  enabled: state => selectedEntities(state).length > 0,
  run: ({ session }) => selectSameType(session)
};
