import { NOTHING, NO_SEARCH } from '../state/types';
import type { IAction } from './types';

export const clear: IAction = {
  id: 'clear',
  label: trans => trans.__('Clear search and selection'),
  keys: ['Escape'],
  global: true,
  run: ({ session, root }) => {
    const { help, search } = session.store.get();
    if (help) {
      session.store.set({ help: false });
    } else if (search.query) {
      session.store.set({ search: NO_SEARCH });
    } else {
      session.select(NOTHING);
    }
    if (document.activeElement instanceof HTMLInputElement) {
      root?.focus();
    }
  }
};
