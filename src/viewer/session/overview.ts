/** Back to the first picture, from wherever the reader is. */

import { recordHistory } from './navigationHistory';
import type { ISession } from './types';

/** Opens and shows what a new view would; what is selected stays so. Back leads to where the reader was. */
export async function showOverview(session: ISession): Promise<void> {
  const { graph, store } = session;
  recordHistory(session);
  store.set({ trace: null, brush: null });
  await graph.transition(view => graph.openInitial(view));
  graph.surface?.home();
  graph.placeLegend();
  graph.rescale();
}
