import { stepSearch } from '../session/searchActions';
import type { IAction } from './types';

export const findPrevious: IAction = {
  id: 'find-previous',
  label: trans => trans.__('Previous match'),
  keys: ['Shift+F3', 'Shift+N'],
  enabled: state => state.search.hits.length > 0,
  run: ({ session }) => stepSearch(session, -1)
};
