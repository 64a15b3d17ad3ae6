/** Returns to the initial view. */

import { recordHistory } from './navigationHistory';
import type { ISession } from './types';

/** Opens and shows what a new view would; the selection is kept. Back returns to the previous view. */
export async function showOverview(session: ISession): Promise<void> {
  const { graph, store } = session;
  recordHistory(session);
  store.set({ trace: null, brush: null });
  await graph.transition(view => graph.openInitial(view));
  graph.surface?.home();
  graph.rescale();
}
