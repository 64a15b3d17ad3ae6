import type { IAction } from './types';

export const toggleNames: IAction = {
  id: 'toggle-names',
  label: trans => trans.__('Node names on cards'),
  keys: ['U'],
  run: ({ session: { store } }) =>
    store.set({ showNames: !store.get().showNames })
};
