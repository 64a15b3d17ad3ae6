import { endTrace } from '../session/trace';
import { NOTHING, NO_SEARCH } from '../state/types';
import type { IAction } from './types';
import { focused } from '../ui/focus';

/** One thing at a time, what lies on top first. */
export const clear: IAction = {
  id: 'clear',
  label: trans => trans.__('End the trace, clear search and selection'),
  keys: ['Escape'],
  global: true,
  run: ({ session, root }) => {
    const { help, menu, choosing, trace, brush, search } = session.store.get();
    if (help || menu || choosing) {
      session.store.set({ help: false, menu: null, choosing: false });
    } else if (session.stage.patience.cancel()) {
      // What was on screen stays.
    } else if (trace) {
      endTrace(session);
    } else if (brush) {
      session.store.set({ brush: null });
    } else if (search.query) {
      session.store.set({ search: NO_SEARCH });
    } else {
      session.select(NOTHING);
    }
    if (focused() instanceof HTMLInputElement) {
      root?.focus();
    }
  }
};
