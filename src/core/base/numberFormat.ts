/**
 * Number formats: three significant digits with SI prefixes, or all digits with separators. The library
 * formats them identically (`py_autodoc/units.py`); `tests/data/number_cases.json` tests both.
 */

import type { DimValue } from '../../schema';

/** Placeholder for an unknown number. */
export const UNKNOWN = '—';

const PREFIXES = ['', 'K', 'M', 'G', 'T', 'P', 'E', 'Z', 'Y'];
const BYTE_PREFIXES = ['', 'k', 'M', 'G', 'T', 'P', 'E', 'Z', 'Y'];
const SPACE = ' ';

type MaybeNumber = number | null | undefined;

function isKnown(value: MaybeNumber): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

/** Scales a value to 1 … 999.5; returns it with three significant digits, and the power of 1000. */
function scaleToPrefix(value: number): { text: string; power: number } {
  const magnitude = Math.abs(value);
  let power = 0;
  let mantissa = magnitude;
  while (mantissa >= 999.5 && power < PREFIXES.length - 1) {
    power++;
    mantissa = magnitude / 1000 ** power;
  }
  return { text: (value < 0 ? '-' : '') + threeDigits(mantissa, power), power };
}

function threeDigits(mantissa: number, power: number): string {
  if (power === 0 && Number.isInteger(mantissa)) {
    return String(mantissa);
  }
  if (mantissa >= 99.95) {
    return String(Math.round(mantissa));
  }
  if (mantissa >= 9.995) {
    return mantissa.toFixed(1);
  }
  if (mantissa < 0.01) {
    // Two decimals would round it to 0.
    return String(Number(mantissa.toPrecision(3)));
  }
  // Three digits, but `2.0`, not `2.00`.
  return mantissa.toFixed(2).replace(/0$/, '');
}

/**
 * A count in three significant digits: `118 M`, `9.41 K`, `2.0 Z`, `64`.
 *
 * `unit` follows the prefix: `formatCount(118e6, 'MACs')` is `118 M MACs`. Unknown is `—`.
 */
export function formatCount(value: MaybeNumber, unit = ''): string {
  if (!isKnown(value)) {
    return UNKNOWN;
  }
  const { text, power } = scaleToPrefix(value);
  return [text, PREFIXES[power], unit].filter(text => text).join(SPACE);
}

/** Bytes with SI prefixes (1 kB = 1000 B): `3.21 MB`, `512 B`. Unknown is `—`. */
export function formatBytes(value: MaybeNumber): string {
  if (!isKnown(value)) {
    return UNKNOWN;
  }
  const { text, power } = scaleToPrefix(value);
  return `${text}${SPACE}${BYTE_PREFIXES[power]}B`;
}

const SECONDS = ['s', 'ms', 'µs', 'ns'];

/** A time in the unit that suits it: `1.28 ms`, `5.28 µs`, `12.3 s`. Unknown is `—`. */
export function formatSeconds(value: MaybeNumber): string {
  if (!isKnown(value)) {
    return UNKNOWN;
  }
  if (value === 0) {
    return `0${SPACE}s`;
  }
  let unit = 0;
  let magnitude = Math.abs(value);
  while (magnitude < 0.9995 && unit < SECONDS.length - 1) {
    magnitude *= 1000;
    unit++;
  }
  const text = (value < 0 ? '-' : '') + threeDigits(magnitude, unit);
  return `${text}${SPACE}${SECONDS[unit]}`;
}

const PLACES = 6;

/** Decimal digits of a non-negative number, with at most `PLACES` decimals, halves rounded up. */
function digitsOf(value: number): string {
  if (Number.isSafeInteger(value)) {
    return String(value);
  }
  const [mantissa, power = '0'] = String(value).split('e');
  const [integer, fraction = ''] = mantissa.split('.');
  const digits = integer + fraction;
  const keptDigits = integer.length + Number(power) + PLACES;
  let units = BigInt(
    digits.slice(0, Math.max(0, keptDigits)).padEnd(keptDigits, '0') || 0
  );
  if (keptDigits >= 0 && digits.charAt(keptDigits) >= '5') {
    units++;
  }
  const text = String(units).padStart(PLACES + 1, '0');
  const decimals = text.slice(-PLACES).replace(/0+$/, '');
  return text.slice(0, -PLACES) + (decimals && `.${decimals}`);
}

/** Groups digits as `Intl.NumberFormat('en-US')` does, also in engines without `Intl`. */
function groupDigits(value: number): string {
  return digitsOf(value).replace(/\d(?=(\d{3})+(?!\d))(?<!\..*)/g, '$&,');
}

/** All digits with thousands separators: `25,557,032`. Unknown is `—`. */
export function formatExact(value: MaybeNumber, unit = ''): string {
  if (!isKnown(value)) {
    return UNKNOWN;
  }
  const text = (value < 0 ? '-' : '') + groupDigits(Math.abs(value));
  return unit ? `${text}${SPACE}${unit}` : text;
}

/**
 * A share between 0 and 1 as a percentage with one decimal: `12.5 %`, `42.0 %`. `0 %` and `100 %` are
 * exact: a smaller share than a tenth of a percent is `<0.1 %`, and a share just below 1 is `99.9 %`.
 */
export function formatShare(value: MaybeNumber): string {
  if (!isKnown(value)) {
    return UNKNOWN;
  }
  if (value === 0 || value === 1) {
    return `${100 * value}${SPACE}%`;
  }
  if (value > 0 && value < 0.001) {
    return `<0.1${SPACE}%`;
  }
  // The rounding error of a division must not decide how a half is rounded.
  let percent = Number((value * 100).toPrecision(12));
  if (value < 1) {
    percent = Math.min(percent, 99.9);
  }
  const text = Math.abs(percent).toFixed(1);
  return `${percent < 0 ? '-' : ''}${text}${SPACE}%`;
}

/** A confidence in whole percent: `90 %`. Only certainty is `100 %`. */
export function formatConfidence(value: MaybeNumber): string {
  if (!isKnown(value)) {
    return UNKNOWN;
  }
  const percent = Math.round(Number((value * 100).toPrecision(12)));
  return `${value < 1 ? Math.min(percent, 99) : percent}${SPACE}%`;
}

/** `1×64×56×56`, `batch×(seq + 1)`; a scalar is `scalar`, an unknown rank or dimension is `?`. */
export function formatShape(
  shape: readonly DimValue[] | null | undefined
): string {
  if (!shape) {
    return '?';
  }
  return shape.length === 0 ? 'scalar' : shape.map(formatDim).join('×');
}

/** Puts expressions with operators in parentheses. */
function formatDim(dim: DimValue): string {
  if (dim === null) {
    return '?';
  }
  const text = String(dim);
  return /[ +\-*/]/.test(text) && !/^-*\d+$/.test(text) ? `(${text})` : text;
}

/** Unit that a metric is formatted in. */
export type FormatUnit = 'count' | 'bytes' | 'seconds';

/** Short text of a metric value. */
export function formatMetric(value: MaybeNumber, unit: FormatUnit): string {
  switch (unit) {
    case 'bytes':
      return formatBytes(value);
    case 'seconds':
      return formatSeconds(value);
    default:
      return formatCount(value);
  }
}
