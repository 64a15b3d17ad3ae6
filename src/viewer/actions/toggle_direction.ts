import { FLOWS } from '../../core/types';
import type { IAction } from './types';

export const toggleDirection: IAction = {
  id: 'toggle-direction',
  label: trans =>
    trans.__('Flow: automatic, left to right, top to bottom, in rows'),
  keys: ['K'],
  run: ({ session: { store } }) =>
    store.set({
      direction:
        FLOWS[(FLOWS.indexOf(store.get().direction) + 1) % FLOWS.length]
    })
};
