import type { ScaleMode } from '../../core/base/colorScale';
import type { ITranslate } from '../i18n/translate';

/** Name of a scale. */
export function scaleName(scale: ScaleMode, trans: ITranslate): string {
  return {
    linear: trans.__('linear'),
    log: trans.__('log'),
    rank: trans.__('rank')
  }[scale];
}
