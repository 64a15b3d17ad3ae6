import type { IAction } from './types';

export const goBack: IAction = {
  id: 'go-back',
  label: trans => trans.__('Back to the last selection or view'),
  keys: ['Backspace', 'Alt+ArrowLeft'],
  enabled: state => state.historyBack.length > 0,
  run: ({ session }) => session.goBack()
};
