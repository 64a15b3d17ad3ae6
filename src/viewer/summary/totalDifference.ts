/** Totals of this model compared with the other. */

import {
  formatBytes,
  formatCount,
  formatExact,
  formatSeconds,
  UNKNOWN
} from '../../core/base/numberFormat';
import { totalOf, type ITotalValue } from '../../core/model/modelTotals';
import type { IGraphModel } from '../../core/types';
import { METRICS, SHOWN, type TotalMetric } from '../../schema/metrics';
import { unitWord } from './totalTiles';
import { deviceLabel } from '../overlays/deviceLabel';
import type { ITranslate } from '../i18n/translate';

const TOTALS = [...SHOWN.strip, 'latency'] as const;
export type TotalId = TotalMetric | 'latency';

/** Both values and their difference, as text. */
export interface IDifference {
  /** `+1.2 M (+4.5 %)`, `equal`, or a dash. */
  readonly text: string;
  /** Exact values, and why there is no difference. */
  readonly detail: string;
  readonly isKnown: boolean;
}

const MINUS = '−';

/** Ids of tiles that have a difference. */
export function isTotal(id: string): id is TotalId {
  return TOTALS.some(total => total === id);
}

function valueOf({ payload, latency }: IGraphModel, id: TotalId): ITotalValue {
  if (id !== 'latency') {
    return totalOf(payload, id);
  }
  const { seconds = Number.NaN, unknown = 0 } = latency ?? {};
  return { value: seconds >= 0 ? seconds : null, partial: unknown > 0 };
}

function signedText(
  value: number,
  text: (magnitude: number) => string
): string {
  const sign = value > 0 ? '+' : value < 0 ? MINUS : '';
  return sign + text(Math.abs(value));
}

/** `+4.5 %`; below 0.1 % it says so, from a factor of ten it is a factor. */
export function relativeChangeText(from: number, to: number): string {
  const share = (to - from) / from;
  const percent = Math.abs(share) * 100;
  if (to >= 10 * from) {
    return `×${formatCount(to / from)}`;
  }
  if (percent < 0.1) {
    return '<0.1 %';
  }
  const text = percent.toFixed(percent < 99.95 ? 1 : 0);
  return `${share < 0 ? MINUS : '+'}${text} %`;
}

/**
 * This model's total compared with the other's: the difference, also relative to the other. Incomplete
 * sums have none, since it would be wrong.
 */
export function differenceOf(
  ownModel: IGraphModel,
  otherModel: IGraphModel,
  id: TotalId,
  trans: ITranslate
): IDifference {
  const [a, b] = [valueOf(ownModel, id), valueOf(otherModel, id)];
  const timed = id === 'latency';
  const bytes = METRICS[id].unit === 'bytes';
  const unit = unitWord(METRICS[id].unit, trans);
  // No digit of an estimate is exact.
  const exact = (value: number): string =>
    timed ? formatSeconds(value) : formatExact(value, unit);
  const line = ({ value }: ITotalValue, model: IGraphModel): string =>
    (value === null ? trans.__('unknown') : exact(value)) +
    (timed ? ` (${deviceLabel(model) || UNKNOWN})` : '');
  const lines = [
    trans.__('Here: %1', line(a, ownModel)),
    trans.__('There: %1', line(b, otherModel))
  ];
  const reason =
    a.value === null || b.value === null
      ? trans.__('Difference not available: one of the values is unknown.')
      : a.partial || b.partial
        ? trans.__('Difference not available: one of the totals is incomplete.')
        : '';
  if (a.value === null || b.value === null || reason) {
    return {
      text: UNKNOWN,
      detail: [...lines, reason].join('\n'),
      isKnown: false
    };
  }
  const delta = a.value - b.value;
  const full = signedText(delta, exact);
  const change =
    delta !== 0 && b.value > 0
      ? ` (${relativeChangeText(b.value, a.value)})`
      : '';
  const short = signedText(
    delta,
    timed ? exact : bytes ? formatBytes : formatCount
  );
  return {
    text: delta === 0 ? trans.__('equal') : short + change,
    detail: [...lines, trans.__('Difference: %1', full + change)].join('\n'),
    isKnown: true
  };
}
