import type { IAction } from './types';
import { selectedEntities } from '../session/entityNames';

export const fitSelection: IAction = {
  id: 'fit-selection',
  label: trans => trans.__('Fit the selection to the view'),
  keys: ['Shift+F'],
  enabled: state => selectedEntities(state).length > 0,
  run: ({ session }) =>
    session.graph.surface?.fitEntities(selectedEntities(session.store.get()))
};
