import type { TranslationBundle } from '@jupyterlab/translation';
import type { ITranslate } from '../viewer';

/** Replaced with themselves, so that a template without arguments stays a template. */
const PLACEHOLDERS = ['%1', '%2', '%3', '%4'];

/** Adapts Lab's translation bundle. Without arguments, Lab would fill a template with `undefined`. */
export function viewerTranslator(bundle: TranslationBundle): ITranslate {
  return {
    __: (msgid, ...args) =>
      bundle.__(msgid, ...(args.length > 0 ? args : PLACEHOLDERS)),
    _n: (singular, plural, count, ...args) =>
      bundle._n(singular, plural, count, ...args)
  };
}
