import type { IAction } from './types';

export const find: IAction = {
  id: 'find',
  label: trans => trans.__('Find'),
  keys: ['Ctrl+F', '/'],
  global: true,
  run: ({ root }) => {
    const box = root?.querySelector<HTMLInputElement>('.oad-Search-input');
    box?.focus();
    box?.select();
  }
};
