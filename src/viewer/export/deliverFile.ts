import type { Session } from '../session/session';
import { saveFile } from './downloadFile';

/**
 * The page around a frame may block downloads without the frame noticing: notebooks in VS Code, Colab,
 * portals.
 */
function isFramed(): boolean {
  return window.top !== window.self;
}

/** Downloads a file, and explains the alternatives if the download may be blocked. */
export function deliverFile(
  { store, trans }: Pick<Session, 'store' | 'trans'>,
  name: string,
  data: Blob
): void {
  saveFile(name, data);
  if (isFramed()) {
    store.set({
      notice: trans.__(
        'The download of %1 was started. If no file arrives, this page blocks it: use Python.',
        name
      )
    });
  }
}
