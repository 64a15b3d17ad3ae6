import type { ScaleMode } from '../../core/scale';
import type { ITranslate } from '../translate';

/** How values become colours, in a word. */
export function scaleName(scale: ScaleMode, trans: ITranslate): string {
  return {
    linear: trans.__('linear'),
    log: trans.__('log'),
    rank: trans.__('rank')
  }[scale];
}
