/** Saves images and files; the code that creates them is loaded on first use. */

import { lazyCode } from '../lazy/lazyCode';
import type { Session } from '../session/session';
import type { FileFormat } from '../../providers/provider';
import type { ExportPart } from './exports';

const code = lazyCode(() => import('./exports'));

type ExportCode = Awaited<ReturnType<typeof code.get>>;

async function withCode(
  { store, trans }: Session,
  work: (exports: ExportCode) => unknown
): Promise<void> {
  // Synchronous if already loaded: a page may save only during a user action.
  let exports = code.now;
  try {
    exports ??= await code.get();
  } catch {
    store.set({
      notice: trans.__('This part of the viewer could not be loaded.')
    });
    return;
  }
  await work(exports);
}

export const savePng = (session: Session, scale: number): Promise<void> =>
  withCode(session, exports => exports.exportPng(session, scale));

export const saveSvg = (session: Session, part: ExportPart): Promise<void> =>
  withCode(session, exports => exports.exportSvg(session, part));

export const saveDot = (session: Session): Promise<void> =>
  withCode(session, exports => exports.exportDot(session));

/** Saves a file that needs more than the drawing. */
export const saveFile = (session: Session, format: FileFormat): Promise<void> =>
  withCode(session, exports => exports.exportFile(session, format));
