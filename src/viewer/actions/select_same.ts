import { selectSameType } from '../session/selectionActions';
import type { IAction } from './types';
import { selectedEntities } from '../session/entityNames';

export const selectSame: IAction = {
  id: 'select-same',
  label: trans => trans.__('Select all of the same type'),
  keys: ['S'],
  enabled: state => selectedEntities(state).length > 0,
  run: ({ session }) => selectSameType(session)
};
