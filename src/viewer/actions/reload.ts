import type { IAction } from './types';

export const reload: IAction = {
  id: 'reload',
  label: trans => trans.__('Analyse the file again'),
  keys: ['R'],
  enabled: state => state.load.status !== 'loading',
  run: ({ session }) => void session.load()
};
