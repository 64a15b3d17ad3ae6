import { extractSelection } from '../session/extraction';
import type { IAction } from './types';
import { selectedEntities } from '../session/entityNames';

export const extract: IAction = {
  id: 'extract',
  label: trans => trans.__('Extract to .onnx…'),
  keys: [],
  enabled: state =>
    selectedEntities(state).length > 0 &&
    state.extraction?.status !== 'working',
  run: ({ session }) => void extractSelection(session)
};
