import { work } from '../run/later';
import type { IAction } from './types';

export const openProfile: IAction = {
  id: 'open-profile',
  label: trans => trans.__('Load a profile…'),
  keys: [],
  run: ({ session }) => void work.get().then(code => code.askProfile(session))
};
