import { writeView } from '../state/link';
import { copyText } from '../ui/clipboard';
import type { IAction } from './types';

export const copyLink: IAction = {
  id: 'copy-link',
  label: trans => trans.__('Copy a link to this view'),
  keys: ['Shift+L'],
  // Only the host knows an address under which the model opens again.
  enabled: state => state.document !== null && state.linkable,
  run: ({ session }) => {
    const { linkTo, trans, store } = session;
    if (!linkTo) {
      return;
    }
    const say = (announcement: string): void => store.set({ announcement });
    writeView(session.snapshot())
      .then(async ({ text, whole }) => {
        const done = await copyText(linkTo(text));
        say(
          !done
            ? trans.__('The browser did not allow copying.')
            : whole
              ? trans.__('Copied.')
              : trans.__(
                  'Copied without the open blocks: they do not fit into a link.'
                )
        );
      })
      .catch((error: unknown) => {
        console.warn('ONNX Autodoc: no link could be made', error);
        say(trans.__('No link could be made.'));
      });
  }
};
