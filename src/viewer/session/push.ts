/** From the state to the drawing surface: selection, marks, colours, and what a trace leaves bright. */

import { litOf } from '../../core/lit';
import { tensorsOf } from '../../core/series';
import type { IScene } from '../../core/types';
import type { GraphSurface } from '../graph/surface';
import { OVERLAYS } from '../overlays';
import { paintedOverlay } from '../overlays/painted';
import type { IDocument, IViewerState } from '../state/types';
import type { IRange } from '../overlays/types';
import { selectedEntities } from './entities';

/** Tells whether one of these parts of the state is another than the surface has. */
export type Changed = (...keys: (keyof IViewerState)[]) => boolean;

/** What the colours depend on beside the picture. */
export const COLOURS = [
  'overlay',
  'userValues',
  'scale',
  'scaleWith',
  'brush',
  'dark'
] as const;

/** Marks what is selected, found and pointed at; dims what does not belong to the trace. */
export function pushMarks(
  surface: GraphSurface,
  { tree }: IDocument,
  scene: IScene | null,
  state: IViewerState,
  changed: Changed
): void {
  if (changed('selection', 'also')) {
    surface.setSelection(selectedEntities(state));
    surface.setTensors(tensorsOf(tree.series, state.selection));
  }
  if (changed('trace')) {
    const { trace } = state;
    surface.setLit(trace && scene ? litOf(tree, scene, trace.trace) : null);
  }
  if (changed('search', 'pointed')) {
    const { pointed } = state;
    const { hits, at } = state.search;
    if (pointed.length > 0) {
      surface.setHighlights(pointed, pointed.length > 1 ? null : pointed[0]);
    } else {
      surface.setHighlights(hits, hits[at] ?? null);
    }
  }
}

/** Paints the boxes; the values of `over`, else of the visible cards, decide the range, which is returned. */
export function pushColours(
  surface: GraphSurface | null,
  document: IDocument | null,
  scene: IScene | null,
  state: IViewerState,
  over: readonly number[] | null
): IRange | null {
  const { overlay, scale, brush, dark, scaleWith } = state;
  if (!overlay || !scene || !document) {
    surface?.setOverlay(null);
    return null;
  }
  const look = { scale, dark, brush, with: scaleWith, over };
  const { tree } = document;
  const painted = paintedOverlay(OVERLAYS[overlay], scene, tree, look);
  surface?.setOverlay(painted.overlay);
  return painted.range;
}
