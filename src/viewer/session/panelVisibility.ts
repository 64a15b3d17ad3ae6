/** Which panels show beside the graph, by the width of the viewer, the selection and the first picture. */

import type { IPane } from '../../core/types';
import type { IViewerState } from '../state/types';

/** Below this width of the viewer, panels lie over the graph. */
export const NARROW = 800;
/** From this width on there is room for the side panels without being asked. */
export const WIDE = 1400;

/** What decides whether a panel shows. */
type PanelState = Pick<
  IViewerState,
  'panels' | 'selection' | 'linkedView' | 'modelPanelFits'
>;

/** Whether a panel shows in a viewer of this width. */
export function isShown(
  panel: 'outline' | 'inspector',
  state: PanelState,
  width: number
): boolean {
  const { panels, selection, linkedView, modelPanelFits } = state;
  const linked = linkedView !== null;
  const mode = panels[panel];
  if (mode !== 'auto') {
    return mode === 'open';
  }
  if (panel === 'outline') {
    return width >= WIDE;
  }
  if (selection.kind === 'none') {
    return modelPanelFits === null || linked
      ? width >= WIDE
      : modelPanelFits && width >= NARROW;
  }
  // Over the graph, a panel that opened with the first click would catch the second of a double click.
  // Where two graphs stand side by side, it would cover one whenever something is selected in the other.
  return width >= NARROW || !(linked || selection.kind === 'group');
}

/** What is left of the pane beside the panel of the model; null: that panel does not open by itself there. */
export function paneBeside(
  pane: IPane,
  state: PanelState,
  width: number
): IPane | null {
  const { panels, selection, linkedView } = state;
  const isWanted = panels.inspector !== 'auto' || selection.kind !== 'none';
  if (isWanted || linkedView !== null) {
    return null;
  }
  // In a wide viewer it is open already.
  const w = width >= WIDE ? pane.w : pane.w - panels.inspectorWidth;
  return width >= WIDE || w >= NARROW ? { ...pane, w } : null;
}
