import { showOverview } from '../session/showOverview';
import type { IAction } from './types';

export const overview: IAction = {
  id: 'overview',
  label: trans => trans.__('Initial view'),
  keys: ['O'],
  run: ({ session }) => void showOverview(session)
};
