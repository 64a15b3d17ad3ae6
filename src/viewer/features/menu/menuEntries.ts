/** Entries of the context menu for its target: action ids and separators. */

import { chipGroups } from '../../../core/tree/chips';
import { selectedRepeat } from '../../session/repeatStepping';
import type { IMenuState, IViewerState } from '../../state/types';

/** Action ids; null is a separator. */
export type MenuEntry = string | null;

const TRACES = ['trace-ancestors', 'trace-descendants', 'trace-paths'];
const HIDES = ['hide', 'show-only', 'show-hidden'];

function backgroundEntries({ bookmarks }: IViewerState): MenuEntry[] {
  const slots = ['1', '2', '3', '4', '5', '6', '7', '8', '9'];
  const free = slots.find(slot => !Object.hasOwn(bookmarks, slot));
  return [
    'overview',
    'fit',
    'actual-size',
    'toggle-direction',
    null,
    'expand-all',
    'collapse-all',
    'show-hidden',
    null,
    'go-back',
    'go-forward',
    null,
    ...slots
      .filter(slot => Object.hasOwn(bookmarks, slot))
      .map(slot => `recall-view-${slot}`),
    ...(free ? [`store-view-${free}`] : []),
    ...['copy-link', 'open-profile']
  ];
}

/** The entries of a menu. The menu greys out those that are disabled. */
export function menuEntries(
  menu: IMenuState,
  state: IViewerState,
  /** True if parts of the model can be written to a file. */
  canExtract: boolean
): readonly MenuEntry[] {
  const { target } = menu;
  if (target === null) {
    return backgroundEntries(state);
  }
  if (target.kind !== 'entity') {
    return ['locate', null, ...TRACES.slice(0, 2), null, 'copy-name'];
  }
  const isGroup = target.id >= (state.document?.model.nodeCount ?? Infinity);
  const tree = state.document?.tree;
  const hasChips = tree !== undefined && chipGroups(tree, target.id).length > 0;
  return [
    ...(isGroup ? ['toggle-group', 'toggle-group-deep'] : []),
    ...(hasChips ? ['toggle-chips'] : []),
    ...(isGroup || hasChips ? [null] : []),
    ...(selectedRepeat(state) ? ['next-part', 'previous-part', null] : []),
    ...TRACES,
    null,
    'select-same',
    ...HIDES,
    null,
    'show-in-table',
    'fit-selection',
    null,
    'copy-name',
    'copy-tag',
    'copy-link',
    ...(canExtract ? [null, 'extract'] : [])
  ];
}
