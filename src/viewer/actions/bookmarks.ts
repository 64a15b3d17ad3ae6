import { recallView, storeView } from '../session/bookmarks';
import type { IAction } from './types';

const SLOTS = ['1', '2', '3', '4', '5', '6', '7', '8', '9'];

/** Keys 1–9 recall a saved view. */
const recalls = SLOTS.map((slot): IAction => ({
  id: `recall-view-${slot}`,
  label: trans => trans.__('Go to view %1', slot),
  keys: [slot],
  enabled: state => Object.hasOwn(state.bookmarks, slot),
  run: ({ session }) => void recallView(session, slot)
}));

/** Ctrl and a digit save the view; Shift and a digit where the browser uses Ctrl for its tabs. */
const stores = SLOTS.map((slot): IAction => ({
  id: `store-view-${slot}`,
  label: trans => trans.__('Save view %1', slot),
  keys: [`Ctrl+${slot}`, `Shift+${slot}`],
  run: ({ session }) => storeView(session, slot)
}));

export const bookmarks: readonly IAction[] = [...recalls, ...stores];
