import { SCALE_MODES } from '../../core/base/colorScale';
import type { IAction } from './types';

export const toggleScale: IAction = {
  id: 'toggle-scale',
  label: trans => trans.__('Linear, logarithmic or ranked colours'),
  keys: ['L'],
  enabled: state => state.overlay !== null,
  run: ({ session: { store } }) => {
    const index = SCALE_MODES.indexOf(store.get().scale);
    store.set({ scale: SCALE_MODES[(index + 1) % SCALE_MODES.length] });
  }
};
