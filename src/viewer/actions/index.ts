import { actualSize } from './actual_size';
import { bookmarks } from './bookmarks';
import { nextChange, onlyChanges, previousChange } from './changes';
import { clear } from './clear';
import { collapseAll } from './collapse_all';
import { copyLink } from './copy_link';
import { copyName } from './copy_name';
import { copyTag } from './copy_tag';
import { nextOverlayAction } from './next_overlay';
import { expandAll } from './expand_all';
import { exportActions } from './exports';
import { extract } from './extract';
import { find } from './find';
import { findNext } from './find_next';
import { findPrevious } from './find_previous';
import { fit } from './fit';
import { fitSelection } from './fit_selection';
import { focusGraph } from './focus_graph';
import { goBack } from './go_back';
import { goForward } from './go_forward';
import { help } from './help';
import { hide, showHidden, showOnly } from './hide';
import { locate } from './locate';
import { openProfile } from './open_profile';
import { overview } from './overview';
import { reload } from './reload';
import { rescale } from './rescale';
import { selectHits } from './select_hits';
import { selectSame } from './select_same';
import { nextPart, previousPart } from './step_part';
import { traceAncestors, traceDescendants, tracePaths } from './trace';
import { toggleChips } from './toggle_chips';
import { toggleDirection } from './toggle_direction';
import { toggleGroup, toggleGroupDeep } from './toggle_group';
import { toggleNames } from './toggle_names';
import {
  toggleDiagnostics,
  toggleDims,
  toggleInspector,
  toggleLayers,
  toggleOutline
} from './toggle_panels';
import { showInTable } from './show_in_table';
import { toggleScale } from './toggle_scale';
import { toggleWeights } from './toggle_weights';
import type { IAction, IActionContext } from './types';
import { zoomIn } from './zoom_in';
import { zoomOut } from './zoom_out';

export type { IAction, IActionContext } from './types';

/** All actions, in the order of the help. To add one, create a file here and add a line. */
export const ACTIONS: readonly IAction[] = [
  find,
  findNext,
  findPrevious,
  selectHits,
  overview,
  fit,
  actualSize,
  zoomIn,
  zoomOut,
  toggleDirection,
  toggleGroup,
  toggleGroupDeep,
  toggleChips,
  expandAll,
  collapseAll,
  nextPart,
  previousPart,
  locate,
  goBack,
  goForward,
  clear,
  selectSame,
  fitSelection,
  traceAncestors,
  traceDescendants,
  tracePaths,
  nextChange,
  previousChange,
  onlyChanges,
  hide,
  showOnly,
  showHidden,
  showInTable,
  copyName,
  copyTag,
  copyLink,
  nextOverlayAction,
  toggleScale,
  rescale,
  toggleNames,
  toggleWeights,
  toggleOutline,
  toggleInspector,
  toggleLayers,
  toggleDiagnostics,
  toggleDims,
  focusGraph,
  ...exportActions,
  extract,
  openProfile,
  reload,
  help,
  ...bookmarks
];

const BY_ID = new Map(ACTIONS.map(action => [action.id, action]));

export function actionById(id: string): IAction | undefined {
  return BY_ID.get(id);
}

export function isEnabled(action: IAction, context: IActionContext): boolean {
  const state = context.session.store.get();
  return action.enabled
    ? action.enabled(state)
    : state.document !== null && state.load.status !== 'cancelled';
}

/** Runs the action if it is enabled; returns whether it ran. */
export function runAction(action: IAction, context: IActionContext): boolean {
  if (!isEnabled(action, context)) {
    return false;
  }
  action.run(context);
  return true;
}
