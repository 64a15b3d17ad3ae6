/** One model at several sizes of a dimension: the numbers at each point, and the best choices. */

import type { DimInfo } from '../../schema';
import { batchOf, DeviceTimes, type IDeviceTime } from './deviceTimes';
import { deviceOf, hardwareOf, usableDeviceBytes } from './latencyEstimate';
import { cannotRun } from '../model/runnable';
import type { IGraphModel, IDeviceChoice } from '../types';

/**
 * Share of the best throughput above which a larger batch is not worth its latency; same as in the
 * library.
 */
export const KNEE_SHARE = 0.9;
/** Maximum number of points of a curve. */
export const MAX_POINTS = 64;
/** Largest batch that is tried by default. */
const MAX_BATCH = 256;

/** Numbers of a model at one size; NaN where unknown. */
export interface ISweepPoint {
  readonly size: number;
  /** Why nothing is known or the model cannot run; otherwise empty. */
  readonly reason: string;
  readonly macs: number;
  readonly flops: number;
  /** Peak of live activations, in their stored types. */
  readonly peak: number;
  /** On the chosen device; null without one, or if it has no peak for the precision. */
  readonly time: IDeviceTime | null;
  /** Bytes of device memory that a model may use. */
  readonly usable: number;
  /** Null if the need or the memory is unknown, or if no device is chosen. */
  readonly fits: boolean | null;
  readonly itemsPerSecond: number;
}

/** True if the dimension is a batch. */
export function isBatch({ name }: Pick<DimInfo, 'name'>): boolean {
  return /batch/i.test(name) || /^(n|b|bs)$/i.test(name);
}

/**
 * Sizes worth trying. For a batch, powers of two; for other dimensions, the current size halved and
 * doubled, so that strides and heads still divide it.
 */
export function sizesToTry(dim: DimInfo): number[] {
  const now = dim.value ?? dim.suggested ?? 1;
  const sizes = new Set([now]);
  if (isBatch(dim)) {
    for (let size = 1; size <= MAX_BATCH; size *= 2) {
      sizes.add(size);
    }
  } else {
    for (let size = now; size % 2 === 0 && size > now / 16; size /= 2) {
      sizes.add(size / 2);
    }
    for (let times = 2; times <= 8; times *= 2) {
      sizes.add(now * times);
    }
  }
  return [...sizes].sort((a, b) => a - b);
}

/** Parses sizes such as `1, 2, 4`; null if one is invalid or there are too many. */
export function readSizes(text: string): number[] | null {
  const words = text.split(/[\s,;]+/).filter(Boolean);
  const sizes = words.map(word =>
    /^\d{1,10}$/.test(word) ? Number(word) : Number.NaN
  );
  const ok = sizes.every(size => size >= 1 && size <= 2 ** 31);
  const sorted = [...new Set(sizes)].sort((a, b) => a - b);
  return ok && sorted.length > 0 && sorted.length <= MAX_POINTS ? sorted : null;
}

const valueOrNaN = (value: number | null | undefined): number =>
  value ?? Number.NaN;

/** Numbers of a model whose dimension has this size. */
export function pointOf(
  model: IGraphModel,
  size: number,
  choice: IDeviceChoice | null
): ISweepPoint {
  const { payload } = model;
  const { metrics, runnable } = payload;
  const hardware = hardwareOf(payload);
  const device = hardware && choice ? deviceOf(hardware, choice.device) : -1;
  const time =
    device >= 0
      ? new DeviceTimes(model, choice!.runtime).of(device, choice!.precision)
      : null;
  const usable =
    device >= 0 ? usableDeviceBytes(hardware!, device) : Number.NaN;
  const required = time?.required ?? Number.NaN;
  const impossible =
    cannotRun(payload) || (runnable.sizes ? runnable.reason : '');
  return {
    size,
    time,
    usable,
    reason: impossible,
    macs: valueOrNaN(metrics.total_macs),
    flops: valueOrNaN(metrics.total_flops),
    peak: valueOrNaN(metrics.peak_activation_bytes),
    fits: Number.isNaN(required + usable) ? null : required <= usable,
    itemsPerSecond: time ? batchOf(model) / time.seconds : Number.NaN
  };
}

/** A point without any known number. */
export function unknownPoint(size: number, reason: string): ISweepPoint {
  const none = Number.NaN;
  return {
    size,
    reason,
    macs: none,
    flops: none,
    peak: none,
    time: null,
    usable: none,
    fits: null,
    itemsPerSecond: none
  };
}

/**
 * Index of the fitting point with the highest throughput, the fastest if several are equal; -1 if there
 * is none.
 */
export function bestOf(points: readonly ISweepPoint[]): number {
  let best = -1;
  points.forEach((point, index) => {
    const { itemsPerSecond, time, fits } = point;
    if (fits === false || !(itemsPerSecond > 0)) {
      return;
    }
    const highest = best < 0 ? 0 : points[best].itemsPerSecond;
    const ties = itemsPerSecond === highest;
    if (
      itemsPerSecond > highest ||
      (ties && time!.seconds < points[best].time!.seconds)
    ) {
      best = index;
    }
  });
  return best;
}

/**
 * Index of the smallest fitting point that reaches `KNEE_SHARE` of the best throughput; -1 if there is
 * none.
 */
export function kneeOf(points: readonly ISweepPoint[]): number {
  const best = bestOf(points);
  return best < 0
    ? -1
    : points.findIndex(
        ({ fits, itemsPerSecond }) =>
          fits !== false &&
          itemsPerSecond >= KNEE_SHARE * points[best].itemsPerSecond
      );
}
