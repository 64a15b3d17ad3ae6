import type { TranslationBundle } from '@jupyterlab/translation';
import type { ITranslate } from '../viewer';

/** Stand for themselves, so that a template asked for without arguments stays one. */
const PLACEHOLDERS = ['%1', '%2', '%3', '%4'];

/** Lab's bundle in the viewer's terms. Without arguments Lab would fill a template with `undefined`. */
export function viewerTranslator(bundle: TranslationBundle): ITranslate {
  return {
    __: (msgid, ...args) =>
      bundle.__(msgid, ...(args.length > 0 ? args : PLACEHOLDERS)),
    _n: (singular, plural, count, ...args) =>
      bundle._n(singular, plural, count, ...args)
  };
}
