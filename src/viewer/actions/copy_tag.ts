import { isAbort, problemOf } from '../../providers/provider';
import { copyWithFeedback } from '../session/clipboardFeedback';
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
    if (selection.kind === 'group') {
      const path = tree.path(model.nodeCount + selection.id);
      const tag = [...path, tree.groupLabel[selection.id]].join('/');
      void copyWithFeedback(session, tag);
    } else if (selection.kind === 'node') {
      // The tag is part of the details, which may have to be fetched from the server.
      session.details.read(selection.id, new AbortController().signal).then(
        ({ tag, name }) => copyWithFeedback(session, tag || name),
        (error: unknown) => {
          if (!isAbort(error)) {
            const detail = problemOf(error).detail;
            const notice = session.trans.__('No tag to copy: %1', detail);
            session.store.set({ notice });
          }
        }
      );
    }
  }
};
