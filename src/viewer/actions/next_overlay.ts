import { nextOverlay } from '../overlays';
import type { IAction } from './types';

export const nextOverlayAction: IAction = {
  id: 'next-overlay',
  label: trans => trans.__('Next heatmap'),
  keys: ['H'],
  run: ({ session: { store } }) =>
    store.set({
      overlay: nextOverlay(
        store.get().overlay,
        store.get().document?.tree ?? null
      )
    })
};
