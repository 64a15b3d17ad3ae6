/** The panel of the model beside the first picture: open where as much of that stays readable. */

import {
  COMFORTABLE_READING_ZOOM,
  fitZoom,
  MIN_READABLE_ZOOM
} from '../../core/layout/paneZoom';
import type { IGraphView, IPane, IScene } from '../../core/types';
import type { IStore } from '../state/store';
import type { IViewerState } from '../state/types';
import { sameList } from './entityNames';
import { paneBeside, WIDE } from './panelVisibility';
import type { SurfaceHost } from './surfaceHost';

/** Boxes of a picture that may be laid out twice before it is shown. */
const MOST_BOXES_TWICE = 200;

interface IFirstPicture {
  readonly view: IGraphView;
  readonly store: IStore<IViewerState>;
  readonly host: Pick<SurfaceHost, 'pane' | 'viewerWidth' | 'whenResized'>;
  /** Lays out the first picture for a pane. */
  readonly open: (pane: IPane) => Promise<IScene>;
  /** Lays it out for the pane as it is then; null: other boxes were asked for. */
  readonly openInitial: (() => Promise<unknown>) | null;
}

/**
 * Called once, before the picture is drawn. Below the width at which the panel is open, opens it if the
 * picture stays comfortable to read beside it; from that width on, closes it if the picture would not be
 * readable as a whole.
 */
export async function fitModelPanel(picture: IFirstPicture): Promise<void> {
  const { view, store, host, openInitial: home } = picture;
  const state = store.get();
  const width = host.viewerWidth();
  const smallPane = paneBeside(host.pane(), state, width);
  if (!smallPane || state.modelPanelFits !== null) {
    return;
  }
  const zoom = fitZoom(view.scene, smallPane);
  if (width < WIDE) {
    const isReadable =
      zoom >= COMFORTABLE_READING_ZOOM ||
      (home !== null && (await narrows(picture, smallPane)));
    if (isReadable) {
      store.set({ modelPanelFits: true });
      await host.whenResized();
    }
  } else if (home && zoom < MIN_READABLE_ZOOM) {
    store.set({ modelPanelFits: false });
    await host.whenResized();
    await home();
  }
}

/** Lays the first picture out in a smaller pane, if the same boxes stay comfortable to read there. */
async function narrows(
  { view, open, host }: IFirstPicture,
  pane: IPane
): Promise<boolean> {
  if (view.scene.boxCount > MOST_BOXES_TWICE) {
    return false;
  }
  const groups = view.openGroups();
  const hidden = view.hidden();
  const scene = await open(pane);
  const isSame =
    sameList(groups, view.openGroups()) && sameList(hidden, view.hidden());
  if (isSame && fitZoom(scene, pane) >= COMFORTABLE_READING_ZOOM) {
    return true;
  }
  await open(host.pane());
  return false;
}
