import type { ITranslate } from '../i18n/translate';
import { ownValue } from '../../core/base/ownValue';

/** A kind of change, in a word. */
export function kindText(kind: string, trans: ITranslate): string {
  const labels: Readonly<Record<string, string>> = {
    inputs: trans.__('other inputs'),
    operator: trans.__('operator'),
    attributes: trans.__('attributes'),
    shapes: trans.__('shapes'),
    precision: trans.__('precision'),
    weights: trans.__('weights'),
    fused: trans.__('fused'),
    moves: trans.__('reshaped')
  };
  return ownValue(labels, kind) ?? kind;
}
