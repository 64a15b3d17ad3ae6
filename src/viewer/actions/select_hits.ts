import { selectAll } from '../session/selectionActions';
import type { IAction } from './types';

export const selectHits: IAction = {
  id: 'select-hits',
  label: trans => trans.__('Select all matches'),
  keys: ['Shift+S'],
  enabled: state => state.search.hits.length > 0,
  run: ({ session }) => selectAll(session, session.store.get().search.hits)
};
