import { entityOf } from '../session/entityNames';
import type { Session } from '../session/session';
import type { IAction, IActionContext } from './types';

function toggle({ session }: IActionContext, recursive: boolean): void {
  const { document, selection } = session.store.get();
  const entity = document ? entityOf(document.model, selection) : null;
  if (entity !== null) {
    void session.activate(entity, recursive);
  }
}

function isOpen({ store, graph }: Session): boolean {
  const { selection } = store.get();
  return selection.kind === 'group' && graph.isOpen(selection.id);
}

export const toggleGroup: IAction = {
  id: 'toggle-group',
  label: trans => trans.__('Expand or collapse the selected block'),
  labelNow: (trans, session) =>
    isOpen(session)
      ? trans.__('Collapse the selected block')
      : trans.__('Expand the selected block'),
  keys: ['Enter'],
  enabled: ({ selection }) =>
    selection.kind === 'group' || selection.kind === 'node',
  run: context => toggle(context, false)
};

export const toggleGroupDeep: IAction = {
  id: 'toggle-group-deep',
  label: trans =>
    trans.__('Expand or collapse the selected block and all inside'),
  labelNow: (trans, session) =>
    isOpen(session)
      ? trans.__('Collapse the selected block and all inside')
      : trans.__('Expand the selected block and all inside'),
  keys: ['Alt+Enter'],
  enabled: ({ selection }) => selection.kind === 'group',
  run: context => toggle(context, true)
};
