/** The numbers drawn in the tab, with their format and range. */

import {
  formatBytes,
  formatCount,
  formatSeconds,
  UNKNOWN
} from '../../../core/base/numberFormat';
import type { ServingPoint } from '../../../schema';
import { rangeText } from '../../summary/deviceText';
import type { ITranslate } from '../../i18n/translate';

export interface IServingNumber {
  readonly id: string;
  readonly title: string;
  /** On a logarithmic scale. */
  readonly log: boolean;
  /** NaN if unknown. */
  readonly value: (point: ServingPoint) => number;
  readonly low?: (point: ServingPoint) => number;
  readonly high?: (point: ServingPoint) => number;
  format(value: number): string;
  /** The value with its range. */
  text(point: ServingPoint): string;
}

const known = (value: number | null): number => value ?? Number.NaN;
const seconds = (milliseconds: number | null): number =>
  known(milliseconds) / 1000;
/** Rate per second of a count in a given time. */
const rate = (count: number, milliseconds: number | null): number =>
  count / seconds(milliseconds);
const countText = (value: number): string => formatCount(value);

function rates(
  id: string,
  title: string,
  count: (point: ServingPoint) => number
): IServingNumber {
  const perSecond = (point: ServingPoint, time: number | null): number =>
    rate(count(point), time);
  return {
    id,
    title,
    log: true,
    format: countText,
    value: point => perSecond(point, point.decode_ms),
    // The longest time gives the lowest rate.
    low: point => perSecond(point, point.decode_high_ms),
    high: point => perSecond(point, point.decode_low_ms),
    text: point =>
      point.decode_ms === null
        ? UNKNOWN
        : `${countText(perSecond(point, point.decode_ms))} (${countText(
            perSecond(point, point.decode_high_ms)
          )}–${countText(perSecond(point, point.decode_low_ms))})`
  };
}

/** Prefill and decode separately, then the memory. */
export function numbersOf(trans: ITranslate): IServingNumber[] {
  return [
    {
      id: 'prefill',
      title: trans.__('Prefill: time to the first token'),
      log: true,
      format: formatSeconds,
      value: point => seconds(point.prefill_ms),
      low: point => seconds(point.prefill_low_ms),
      high: point => seconds(point.prefill_high_ms),
      text: point =>
        point.prefill_ms === null
          ? UNKNOWN
          : `${formatSeconds(point.prefill_ms / 1000)} (${rangeText(
              seconds(point.prefill_low_ms),
              seconds(point.prefill_high_ms)
            )})`
    },
    rates(
      'decode',
      trans.__('Decode: tokens/s, all sequences'),
      ({ batch }) => batch
    ),
    rates('request', trans.__('Decode: tokens/s, one sequence'), () => 1),
    {
      id: 'whole',
      title: trans.__('Whole requests: tokens/s of answers, all sequences'),
      log: true,
      format: countText,
      value: point => known(point.tokens_per_s_with_prompts),
      text: point =>
        point.tokens_per_s_with_prompts === null
          ? UNKNOWN
          : countText(point.tokens_per_s_with_prompts)
    },
    {
      id: 'memory',
      title: trans.__('Memory used'),
      log: true,
      format: formatBytes,
      value: point => known(point.memory_bytes_per_device),
      text: point =>
        [
          formatBytes(point.memory_bytes_per_device),
          point.fits === null
            ? ''
            : point.fits
              ? trans.__('fits')
              : trans.__('does not fit')
        ]
          .filter(Boolean)
          .join(', ')
    },
    {
      id: 'cache',
      title: trans.__('KV cache'),
      log: true,
      format: formatBytes,
      value: point => known(point.kv_cache_bytes),
      text: point => formatBytes(point.kv_cache_bytes)
    }
  ];
}
