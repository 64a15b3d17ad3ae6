/**
 * Heat colours: perceptual ramps suitable for colour-blind readers, and three ways to map values onto
 * them.
 */

import { RAMPS, type RampId } from '../../schema/metrics';
import { groupBy } from './csr';

export const SCALE_MODES = ['linear', 'log', 'rank'] as const;
export type ScaleMode = (typeof SCALE_MODES)[number];

/** Number of distinct colours of a ramp: few enough for a legend to show and a renderer to cache. */
export const RAMP_STEPS = 64;

function parseHex(color: string): [number, number, number] {
  const value = parseInt(color.slice(1), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

function toHex(rgb: readonly number[]): string {
  const value = rgb.reduce(
    (sum, channel) => sum * 256 + Math.round(channel),
    0
  );
  return '#' + value.toString(16).padStart(6, '0');
}

function stepsOf(colors: readonly string[]): string[] {
  const samples = colors.map(parseHex);
  return Array.from({ length: RAMP_STEPS }, (_, step) => {
    const position = (step / (RAMP_STEPS - 1)) * (samples.length - 1);
    const low = Math.min(samples.length - 2, Math.floor(position));
    const share = position - low;
    return toHex(
      samples[low].map(
        (channel, i) => channel * (1 - share) + samples[low + 1][i] * share
      )
    );
  });
}

const STEPS = Object.fromEntries(
  Object.entries(RAMPS).map(([id, colors]) => [id, stepsOf(colors)])
) as Record<RampId, string[]>;

/** Colour of a position between 0 and 1 (clamped), as `#rrggbb`. */
export function rampColor(position: number, ramp: RampId = 'viridis'): string {
  const step = Math.round(position * (RAMP_STEPS - 1));
  return STEPS[ramp][Math.max(0, Math.min(RAMP_STEPS - 1, step))];
}

/** Relative luminance of `#rrggbb`, WCAG 2.2. */
export function luminance(color: string): number {
  const [r, g, b] = parseHex(color).map(channel => {
    const share = channel / 255;
    return share <= 0.04045
      ? share / 12.92
      : Math.pow((share + 0.055) / 1.055, 2.4);
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** Contrast ratio of two colours, 1 to 21, WCAG 2.2. */
export function contrast(a: string, b: string): number {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

/** Black or white, whichever reads better on the colour; the contrast is at least 4.58. */
export function readableTextColor(color: string): '#000000' | '#ffffff' {
  return contrast(color, '#000000') >= contrast(color, '#ffffff')
    ? '#000000'
    : '#ffffff';
}

/** Maps the values of a metric to positions on the ramp. */
export interface IScale {
  readonly mode: ScaleMode;
  /** Smallest and largest known value; NaN when nothing is known. */
  readonly min: number;
  readonly max: number;
  /** 0 … 1, or NaN for an unknown value. */
  position(value: number): number;
  /** The value at a position: the inverse of `position`, between known values where it ranks. */
  value(position: number): number;
  /** Colour, or null for an unknown value. */
  color(value: number): string | null;
  /** Ascending values for a legend, with their positions. */
  ticks(count: number): { value: number; position: number }[];
}

/** Known values in ascending order. */
function sortKnown(values: ArrayLike<number>): Float64Array {
  const finite: number[] = [];
  for (let i = 0; i < values.length; i++) {
    if (Number.isFinite(values[i])) {
      finite.push(values[i]);
    }
  }
  return Float64Array.from(finite).sort();
}

/** First index whose value is at least `value`. */
function lowerBound(values: Float64Array, value: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] < value) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

function clamp(position: number): number {
  return Math.max(0, Math.min(1, position));
}

interface IMapping {
  position(value: number): number;
  /** Inverse of `position`. */
  value(position: number): number;
}

function linear(low: number, max: number): IMapping {
  const span = max - low || 1;
  return {
    position: value => clamp((value - low) / span),
    value: position => low + position * span
  };
}

/** Zero maps to the start of the ramp; the smallest positive value lies slightly above it. */
function logarithmic(least: number, max: number): IMapping {
  const high = Math.log(max);
  // A single value is also the largest: it gets the end of the ramp, as on the other scales.
  const span = high - Math.log(least) || 1;
  const low = high - span;
  const floor = 0.04;
  return {
    position: value =>
      value <= 0
        ? 0
        : clamp(floor + (1 - floor) * ((Math.log(value) - low) / span)),
    value: position =>
      position < floor
        ? 0
        : Math.exp(low + ((position - floor) / (1 - floor)) * span)
  };
}

/** Equal values share a position. */
function ranked(values: Float64Array): IMapping {
  const distinct = Float64Array.from(new Set(values));
  const last = Math.max(1, distinct.length - 1);
  return {
    position: value => clamp(lowerBound(distinct, value) / last),
    value: position =>
      distinct[Math.min(distinct.length - 1, Math.round(position * last))]
  };
}

function mappingFor(
  mode: ScaleMode,
  values: Float64Array,
  low: number
): IMapping {
  const max = values[values.length - 1] ?? 0;
  const least = values[lowerBound(values, Number.MIN_VALUE)];
  if (mode === 'rank' && values.length > 0) {
    return ranked(values);
  }
  if (mode === 'log' && least !== undefined) {
    return logarithmic(least, max);
  }
  return linear(low, max);
}

/** A range of values. */
export interface ISpan {
  readonly low: number;
  readonly high: number;
}

/**
 * Creates a scale over the given values; NaN entries are unknown and ignored. With `only`, the ramp
 * covers the values of that span and clamps those outside it. A linear ramp starts at zero, or at the low
 * end of the span.
 */
export function createScale(
  values: ArrayLike<number>,
  mode: ScaleMode,
  only: ISpan | null = null
): IScale {
  const sorted = sortKnown(values);
  const scaled = only
    ? sorted.filter(value => value >= only.low && value <= only.high)
    : sorted;
  const low = only && scaled.length > 0 ? scaled[0] : 0;
  const mapping = mappingFor(mode, scaled, low);
  const position = (value: number) =>
    Number.isFinite(value) && scaled.length > 0 ? mapping.position(value) : NaN;
  return {
    mode,
    min: scaled[0] ?? NaN,
    max: scaled[scaled.length - 1] ?? NaN,
    position,
    value: share => (scaled.length > 0 ? mapping.value(share) : NaN),
    color: value => {
      const share = position(value);
      return Number.isNaN(share) ? null : rampColor(share);
    },
    ticks: count =>
      scaled.length === 0
        ? []
        : Array.from({ length: count }, (_, i) => {
            const share = count > 1 ? i / (count - 1) : 1;
            return { value: mapping.value(share), position: share };
          })
  };
}

/** Counts the values that fall into each of `bins` equal parts of the ramp. */
export function histogram(
  scale: IScale,
  values: ArrayLike<number>,
  bins: number
): Int32Array {
  const keys: number[] = [];
  for (let i = 0; i < values.length; i++) {
    const share = scale.position(values[i]);
    if (!Number.isNaN(share)) {
      keys.push(Math.min(bins - 1, Math.floor(share * bins)));
    }
  }
  const { offsets } = groupBy(bins, keys, keys);
  return offsets.slice(1).map((end, bin) => end - offsets[bin]);
}
