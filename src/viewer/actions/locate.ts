import type { IAction } from './types';

export const locate: IAction = {
  id: 'locate',
  label: trans => trans.__('Show the selection in the graph'),
  keys: ['.'],
  enabled: state => state.selection.kind !== 'none',
  run: ({ session }) => session.select(session.store.get().selection, 'reveal')
};
