import { extractSelection } from '../session/extract';
import type { IAction } from './types';
import { selectedEntities } from '../session/entities';

export const extract: IAction = {
  id: 'extract',
  label: trans => trans.__('Extract to .onnx…'),
  keys: [],
  enabled: state =>
    selectedEntities(state).length > 0 &&
    state.extraction?.status !== 'working',
  run: ({ session }) => void extractSelection(session)
};
