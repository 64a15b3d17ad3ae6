import type { IAction } from './types';

export const toggleDirection: IAction = {
  id: 'toggle-direction',
  label: trans => trans.__('Left to right or top to bottom'),
  keys: ['K'],
  run: ({ session: { store } }) =>
    store.set({
      direction: store.get().direction === 'right' ? 'down' : 'right'
    })
};
