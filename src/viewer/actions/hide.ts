import { userHidden } from '../../core/tree/repeatParts';
import {
  hideSelection,
  showAll,
  showOnlySelection
} from '../session/hideActions';
import type { IAction } from './types';
import { selectedEntities } from '../session/entityNames';

export const hide: IAction = {
  id: 'hide',
  label: trans => trans.__('Hide the selection'),
  keys: ['X'],
  enabled: state => selectedEntities(state).length > 0,
  run: ({ session }) => void hideSelection(session)
};

export const showOnly: IAction = {
  id: 'show-only',
  label: trans => trans.__('Show only the selection'),
  keys: ['Shift+X'],
  enabled: state => selectedEntities(state).length > 0,
  run: ({ session }) => void showOnlySelection(session)
};

export const showHidden: IAction = {
  id: 'show-hidden',
  label: trans => trans.__('Show all hidden items'),
  keys: ['Z'],
  enabled: ({ document, hidden }) =>
    document !== null && userHidden(document.tree, hidden).length > 0,
  run: ({ session }) => void showAll(session)
};
