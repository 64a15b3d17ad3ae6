import { selectedEntities } from '../session/hide';
import type { IAction } from './types';

export const fitSelection: IAction = {
  id: 'fit-selection',
  label: trans => trans.__('Fit the selection to the view'),
  keys: ['Shift+F'],
  enabled: state => selectedEntities(state).length > 0,
  run: ({ session }) =>
    session.stage.surface?.fitEntities(selectedEntities(session.store.get()))
};
