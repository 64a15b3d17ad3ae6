import type { IViewerState } from '../state/types';
import type { IAction } from './types';

const enabled = ({ linkedView }: IViewerState): boolean =>
  !!linkedView?.compared;

function step(by: 1 | -1): IAction['run'] {
  return ({ session }) => {
    const { linkedView } = session.store.get();
    linkedView?.compared?.step(linkedView.side, by);
  };
}

export const nextChange: IAction = {
  id: 'next-change',
  label: trans => trans.__('Next change'),
  keys: ['C'],
  enabled,
  run: step(1)
};

export const previousChange: IAction = {
  id: 'previous-change',
  label: trans => trans.__('Previous change'),
  keys: ['Shift+C'],
  enabled,
  run: step(-1)
};

export const onlyChanges: IAction = {
  id: 'only-changes',
  label: trans => trans.__('Only changes'),
  keys: ['V'],
  enabled,
  run: ({ session }) => {
    const { linkedView } = session.store.get();
    linkedView?.compared?.toggleOnly(linkedView.side);
  }
};
