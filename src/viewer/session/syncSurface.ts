/** Applies the state to the drawing surface: selection, marks, colours, and the highlight of a trace. */

import { computeTraceHighlight } from '../../core/trace/traceHighlight';
import { tensorIdsOf } from '../../core/tree/tensorSeries';
import type { IScene } from '../../core/types';
import type { GraphSurface } from '../graph/surface';
import { OVERLAYS } from '../overlays';
import { computeOverlay, type IColorOptions } from '../overlays/computeOverlay';
import type { IDocument, IViewerState } from '../state/types';
import type { IOverlayRange } from '../overlays/types';
import { selectedEntities } from './entityNames';

/** True if any of these state fields differs from the surface. */
export type ChangedPredicate = (...keys: (keyof IViewerState)[]) => boolean;

/** State fields that the colours depend on, in addition to the scene. */
export const COLOR_STATE_KEYS = [
  'overlay',
  'userValues',
  'scale',
  'linkedScaleValues',
  'brush',
  'dark'
] as const;

/** Marks the selection, search matches and external highlights; dims everything outside the trace. */
export function syncMarks(
  surface: GraphSurface,
  { tree }: IDocument,
  scene: IScene | null,
  state: IViewerState,
  changed: ChangedPredicate
): void {
  if (changed('selection', 'moreSelected')) {
    surface.setSelection(selectedEntities(state));
    surface.setTensors(tensorIdsOf(tree.series, state.selection));
  }
  if (changed('trace')) {
    const { trace } = state;
    surface.setTraceHighlight(
      trace && scene ? computeTraceHighlight(tree, scene, trace.trace) : null
    );
  }
  if (changed('search', 'externalHighlight')) {
    const { externalHighlight } = state;
    const { hits, index } = state.search;
    if (externalHighlight.length > 0) {
      surface.setHighlights(
        externalHighlight,
        externalHighlight.length > 1 ? null : externalHighlight[0]
      );
    } else {
      surface.setHighlights(hits, hits[index] ?? null);
    }
  }
}

/**
 * Colours the boxes; the values of `scaled`, or else of the visible cards, determine the range, which is
 * returned.
 */
export function syncColors(
  surface: GraphSurface | null,
  document: IDocument | null,
  scene: IScene | null,
  state: IViewerState,
  scaled: readonly number[] | null
): IOverlayRange | null {
  const { overlay, scale, brush, dark, linkedScaleValues } = state;
  if (!overlay || !scene || !document) {
    surface?.setOverlay(null);
    return null;
  }
  const look: IColorOptions = {
    scale,
    dark,
    brush,
    extraValues: linkedScaleValues,
    rangeOf: scaled
  };
  const { tree } = document;
  const painted = computeOverlay(OVERLAYS[overlay], scene, tree, look);
  surface?.setOverlay(painted.overlay);
  return painted.range;
}
