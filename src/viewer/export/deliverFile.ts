import type { Session } from '../session/session';
import { saveFile } from './downloadFile';

/** A frame's page may forbid downloads, and the frame never hears of it: notebooks in VS Code, Colab, portals. */
function isFramed(): boolean {
  return window.top !== window.self;
}

/** Gives the user a file; says what else there is where it may not arrive. */
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
