/** Back to the first picture, from wherever the reader is. */

import { remember } from './places';
import type { ISession } from './types';

/** Opens and shows what a new view would; what is selected stays so. Back leads to where the reader was. */
export async function showOverview(session: ISession): Promise<void> {
  const { stage, store } = session;
  remember(session);
  store.set({ trace: null, brush: null });
  await stage.change(view => stage.home(view));
  stage.surface?.home();
  stage.placeLegend();
  stage.rescale();
}
