import { stepSearch } from '../session/searchActions';
import type { IAction } from './types';

export const findNext: IAction = {
  id: 'find-next',
  label: trans => trans.__('Next match'),
  keys: ['F3', 'N'],
  enabled: state => state.search.hits.length > 0,
  run: ({ session }) => stepSearch(session, 1)
};
