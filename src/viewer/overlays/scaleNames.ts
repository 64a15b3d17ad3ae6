import type { ScaleMode } from '../../core/base/colorScale';
import type { ITranslate } from '../i18n/translate';

/** How values become colours, in a word. */
export function scaleName(scale: ScaleMode, trans: ITranslate): string {
  return {
    linear: trans.__('linear'),
    log: trans.__('log'),
    rank: trans.__('rank')
  }[scale];
}
