import { endTrace } from '../session/traceActions';
import { NO_SELECTION, NO_SEARCH } from '../state/types';
import type { IAction } from './types';
import { focusedElement } from '../ui/focus';

/** Clears one thing at a time, topmost first. */
export const clear: IAction = {
  id: 'clear',
  label: trans => trans.__('End the trace, clear search and selection'),
  keys: ['Escape'],
  global: true,
  run: ({ session, root }) => {
    const { helpOpen, menu, deviceChooserOpen, trace, brush, search } =
      session.store.get();
    if (helpOpen || menu || deviceChooserOpen) {
      session.store.set({
        helpOpen: false,
        menu: null,
        deviceChooserOpen: false
      });
    } else if (session.graph.layoutProgress.cancel()) {
      // The screen does not change.
    } else if (trace) {
      endTrace(session);
    } else if (brush) {
      session.store.set({ brush: null });
    } else if (search.query) {
      session.store.set({ search: NO_SEARCH });
    } else {
      session.select(NO_SELECTION);
    }
    if (focusedElement() instanceof HTMLInputElement) {
      root?.focus();
    }
  }
};
