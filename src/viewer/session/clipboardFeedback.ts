import { copyText } from '../ui/clipboard';
import type { ISession } from './types';

/** Copies a text and says whether it worked: to ears, and to eyes where the page refused. */
export async function copyWithFeedback(
  { store, trans }: Pick<ISession, 'store' | 'trans'>,
  text: string,
  copied = trans.__('Copied.')
): Promise<boolean> {
  const done = await copyText(text);
  store.set(
    done
      ? { announcement: copied }
      : {
          notice: trans.__(
            'The browser blocked copying. Select and copy the text manually.'
          )
        }
  );
  return done;
}
