import { copyText } from '../ui/clipboard';
import type { ISession } from './types';

/** Copies a text and announces success; shows a notice if the page refused. */
export async function copyWithFeedback(
  { store, trans }: Pick<ISession, 'store' | 'trans'>,
  text: string,
  copied = trans.__('Copied.')
): Promise<boolean> {
  const isCopied = await copyText(text);
  store.set(
    isCopied
      ? { announcement: copied }
      : {
          notice: trans.__(
            'The browser blocked copying. Select and copy the text manually.'
          )
        }
  );
  return isCopied;
}
