/** The dimensions that numbers apply to, in one line. */

import { sizable } from '../../core/expressions/rebind';
import type { GraphPayload } from '../../schema';
import type { ITranslate } from '../i18n/translate';
import { shortLabel } from '../ui/safeText';

/** `batch = 1, seq = 128 (assumed)`; empty if the model has no dimensions to set. */
export function sizesText(payload: GraphPayload, trans: ITranslate): string {
  return sizable(payload)
    .map(({ name, value, assumed }) => {
      const label = shortLabel(name, 40);
      return value === null
        ? trans.__('%1 free', label)
        : assumed
          ? trans.__('%1 = %2 (assumed)', label, value)
          : `${label} = ${value}`;
    })
    .join(', ');
}
