import type { IAction } from './types';

export const toggleWeights: IAction = {
  id: 'toggle-weights',
  label: trans => trans.__('Weight shapes on cards'),
  keys: ['I'],
  run: ({ session: { store } }) =>
    store.set({ showWeights: !store.get().showWeights })
};
