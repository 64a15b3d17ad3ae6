import { selectedNodes } from '../session/hostSelection';
import { showTab } from '../session/panels';
import type { IAction } from './types';
import { selectedEntities } from '../session/entityNames';

export const showInTable: IAction = {
  id: 'show-in-table',
  label: trans => trans.__('Show in the table'),
  keys: [],
  enabled: state => selectedEntities(state).length > 0,
  run: ({ session }) => {
    // Rows are nodes: for a block, its first node.
    const [first] = selectedNodes(session.store.get());
    const { selection } = session.store.get();
    if (first !== undefined && selection.kind === 'group') {
      session.select({ kind: 'node', id: first }, 'none');
    }
    showTab(session, 'layers');
  }
};
