import { isAbort } from '../../providers/provider';
import { copyText } from '../ui/clipboard';
import type { IAction } from './types';

export const copyTag: IAction = {
  id: 'copy-tag',
  label: trans => trans.__('Copy the tag'),
  keys: [],
  enabled: state =>
    state.selection.kind === 'node' || state.selection.kind === 'group',
  run: ({ session }) => {
    const { document, selection } = session.store.get();
    if (!document) {
      return;
    }
    const { tree, model } = document;
    const say = (done: boolean): void =>
      session.store.set({
        announcement: done
          ? session.trans.__('Copied.')
          : session.trans.__('The browser did not allow copying.')
      });
    if (selection.kind === 'group') {
      const path = tree.path(model.nodeCount + selection.id);
      const tag = [...path, tree.groupLabel[selection.id]].join('/');
      void copyText(tag).then(say);
    } else if (selection.kind === 'node') {
      // The tag comes with the details, which may be at the server.
      session.details
        .read(selection.id, new AbortController().signal)
        .then(({ tag, name }) => copyText(tag || name))
        .then(say, (error: unknown) => isAbort(error) || say(false));
    }
  }
};
