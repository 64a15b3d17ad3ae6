import type { IAction } from './types';

export const toggleScale: IAction = {
  id: 'toggle-scale',
  label: trans => trans.__('Linear or logarithmic colours'),
  keys: ['L'],
  enabled: state => state.overlay !== null,
  run: ({ session: { store } }) =>
    store.set({ logScale: !store.get().logScale })
};
