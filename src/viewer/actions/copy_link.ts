import { encodeViewFragment } from '../state/viewFragment';
import { copyWithFeedback } from '../session/clipboardFeedback';
import type { IAction } from './types';

export const copyLink: IAction = {
  id: 'copy-link',
  label: trans => trans.__('Copy a link to this view'),
  keys: ['Shift+L'],
  // Only the host knows an address that opens the model again.
  enabled: state => state.document !== null && state.canCopyLink,
  run: ({ session }) => {
    const { linkTo, trans, store } = session;
    if (!linkTo) {
      return;
    }
    encodeViewFragment(session.snapshot())
      .then(({ text, whole }) =>
        copyWithFeedback(
          session,
          linkTo(text),
          whole
            ? trans.__('Copied.')
            : trans.__('Link copied without the expanded blocks.')
        )
      )
      .catch((error: unknown) => {
        console.warn('ONNX Autodoc: no link could be made', error);
        store.set({ notice: trans.__('Could not create a link.') });
      });
  }
};
