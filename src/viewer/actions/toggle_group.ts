import { entityOf } from '../session/entities';
import type { IAction, IActionContext } from './types';

function toggle({ session }: IActionContext, recursive: boolean): void {
  const { document, selection } = session.store.get();
  const entity = document ? entityOf(document.model, selection) : null;
  if (entity !== null) {
    void session.activate(entity, recursive);
  }
}

export const toggleGroup: IAction = {
  id: 'toggle-group',
  label: trans => trans.__('Expand or collapse the selected block'),
  keys: ['Enter'],
  enabled: ({ selection }) =>
    selection.kind === 'group' || selection.kind === 'node',
  run: context => toggle(context, false)
};

export const toggleGroupDeep: IAction = {
  id: 'toggle-group-deep',
  label: trans =>
    trans.__('Expand or collapse the selected block and all inside'),
  keys: ['Alt+Enter'],
  enabled: ({ selection }) => selection.kind === 'group',
  run: context => toggle(context, true)
};
