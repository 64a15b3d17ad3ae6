import type { IAction } from './types';

const SLOTS = ['1', '2', '3', '4', '5', '6', '7', '8', '9'];

/** Keys 1–9 go back to a stored view. */
const recalls = SLOTS.map((slot): IAction => ({
  id: `recall-view-${slot}`,
  label: trans => trans.__('Go to view %1', slot),
  keys: [slot],
  enabled: state => Object.hasOwn(state.bookmarks, slot),
  run: ({ session: { store, stage } }) =>
    stage.surface?.setCamera(store.get().bookmarks[slot], true)
}));

/** Shift and a digit store the view. */
const stores = SLOTS.map((slot): IAction => ({
  id: `store-view-${slot}`,
  label: trans => trans.__('Store the view as %1', slot),
  keys: [`Shift+${slot}`],
  run: ({ session: { store, stage } }) => {
    const camera = stage.camera;
    if (camera) {
      const { bookmarks } = store.get();
      store.set({ bookmarks: { ...bookmarks, [slot]: camera } });
    }
  }
}));

export const bookmarks: readonly IAction[] = [...recalls, ...stores];
