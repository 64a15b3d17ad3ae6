import { chipGroups } from '../../core/tree/chips';
import { entityOf } from '../session/entityNames';
import type { IViewerState } from '../state/types';
import type { IAction } from './types';

/**
 * Groups that prepare sizes, masks or weights for the selected box, or the selection itself if it is one.
 */
function chipsOf({ document, selection }: IViewerState): readonly number[] {
  const entity = document && entityOf(document.model, selection);
  if (!document || entity === null) {
    return [];
  }
  const { tree } = document;
  const groups = chipGroups(tree, entity);
  const isChip =
    selection.kind === 'group' &&
    [...tree.groupChips.values()].some(list => list.includes(selection.id));
  return isChip && groups.length === 0 ? [selection.id] : groups;
}

export const toggleChips: IAction = {
  id: 'toggle-chips',
  label: trans =>
    trans.__('Expand or collapse the preparation of the selected box'),
  keys: ['M'],
  enabled: state => chipsOf(state).length > 0,
  run: ({ session: { store, graph } }) => {
    const groups = chipsOf(store.get());
    const isOpen = groups.some(group => graph.isOpen(group));
    void graph.transition(view => {
      const changes = groups.map(group =>
        isOpen ? view.collapse(group) : view.expand(group)
      );
      return changes[changes.length - 1];
    }, graph.selected() ?? undefined);
  }
};
