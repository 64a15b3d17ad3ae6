import { taskCode } from '../tasks/lazyTasks';
import type { IAction } from './types';

export const openProfile: IAction = {
  id: 'open-profile',
  label: trans => trans.__('Load a profile…'),
  keys: [],
  run: ({ session }) =>
    void taskCode.get().then(code => code.askProfile(session))
};
