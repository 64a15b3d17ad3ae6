import type { IAction } from './types';

export const help: IAction = {
  id: 'help',
  label: trans => trans.__('Keyboard shortcuts'),
  keys: ['?'],
  enabled: () => true,
  run: ({ session: { store } }) =>
    store.set({ helpOpen: !store.get().helpOpen })
};
