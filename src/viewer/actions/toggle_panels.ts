import { togglePanel, showTab } from '../session/panels';
import type { IAction } from './types';

export const toggleOutline: IAction = {
  id: 'toggle-outline',
  label: trans => trans.__('Outline'),
  keys: ['Shift+O'],
  run: ({ session, root }) => togglePanel(session, 'outline', root)
};

export const toggleInspector: IAction = {
  id: 'toggle-inspector',
  label: trans => trans.__('Inspector'),
  keys: ['D'],
  run: ({ session, root }) => togglePanel(session, 'inspector', root)
};

export const toggleLayers: IAction = {
  id: 'toggle-layers',
  label: trans => trans.__('Layers table'),
  keys: ['T'],
  run: ({ session }) => showTab(session, 'layers', true)
};

export const toggleDiagnostics: IAction = {
  id: 'toggle-diagnostics',
  label: trans => trans.__('Diagnostics'),
  keys: ['Shift+D'],
  run: ({ session }) => showTab(session, 'diagnostics', true)
};

export const toggleDims: IAction = {
  id: 'toggle-dims',
  label: trans => trans.__('Dimensions'),
  keys: ['B'],
  run: ({ session }) => showTab(session, 'dims', true)
};
