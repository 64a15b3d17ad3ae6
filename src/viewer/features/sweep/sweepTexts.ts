/** The curves in words. */

import {
  bestOf,
  kneeOf,
  type ISweepPoint
} from '../../../core/latency/sizeSweep';
import {
  formatBytes,
  formatCount,
  formatSeconds,
  UNKNOWN
} from '../../../core/base/numberFormat';
import { rangeText } from '../../summary/deviceText';
import type { ITranslate } from '../../i18n/translate';
import { shortLabel } from '../../ui/safeText';

/** `≥ 4.6 ms` if kernels without a time are not included. */
export function timeText({ time }: ISweepPoint): string {
  return !time || Number.isNaN(time.seconds)
    ? UNKNOWN
    : (time.unknown > 0 ? '≥ ' : '') + formatSeconds(time.seconds);
}

/** A point in one line: `batch 16: 4.6 ms (3.2–6.9), 3.5 K items/s, needs 120 MB, fits`. */
export function describePoint(
  name: string,
  point: ISweepPoint,
  trans: ITranslate
): string {
  const { size, reason, time, fits, itemsPerSecond, macs, peak } = point;
  const head = `${shortLabel(name, 40)} ${size}: `;
  if (reason) {
    return head + shortLabel(reason, 200);
  }
  const timed = time && !Number.isNaN(time.seconds);
  const isComplete = timed && time.unknown === 0;
  const parts = [
    timed
      ? timeText(point) +
        (isComplete ? ` (${rangeText(time.low, time.high)})` : '')
      : '',
    itemsPerSecond >= 0
      ? trans.__(
          '%1 items/s',
          (isComplete ? '' : '≤ ') + formatCount(itemsPerSecond)
        )
      : '',
    formatCount(macs, 'MACs'),
    time && time.required >= 0
      ? trans.__('needs %1', formatBytes(time.required))
      : trans.__('peak activation %1', formatBytes(peak)),
    fits === null ? '' : fits ? trans.__('fits') : trans.__('does not fit')
  ];
  return head + parts.filter(Boolean).join(', ');
}

/** The best batch, in one line; empty if no throughput is known. */
export function choiceText(
  name: string,
  points: readonly ISweepPoint[],
  trans: ITranslate
): string {
  const [best, knee] = [bestOf(points), kneeOf(points)];
  if (best < 0 || knee < 0) {
    return '';
  }
  const pointText = (index: number): string => {
    const point = points[index];
    const items = formatCount(point.itemsPerSecond);
    return `${shortLabel(name, 40)} ${point.size} (${trans.__('%1 items/s', items)}, ${timeText(point)})`;
  };
  return best === knee
    ? trans.__(
        'Most items/s, and the smallest with 90 % of it: %1.',
        pointText(best)
      )
    : trans.__(
        'Most items/s: %1. Smallest with 90 % of that: %2.',
        pointText(best),
        pointText(knee)
      );
}
