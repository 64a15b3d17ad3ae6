/** How single values and places in a tensor are written. */

import { formatExact } from '../../../core';

export type WeightValue = number | string | boolean | null;

/** Integers in full with separators, other numbers in six significant digits, what is text as it is. */
export function formatValue(value: unknown): string {
  if (typeof value !== 'number') {
    return typeof value === 'string' && /^-?\d+$/.test(value)
      ? groupDigits(value)
      : String(value);
  }
  if (Number.isInteger(value) && Math.abs(value) <= Number.MAX_SAFE_INTEGER) {
    return Object.is(value, -0) ? '-0' : formatExact(value);
  }
  return String(Number(value.toPrecision(6)));
}

/** Digits that no number of the browser can hold. */
function groupDigits(digits: string): string {
  return digits.replace(/\B(?=(\d{3})+$)/g, ',');
}

/** `[0, 3, 12]`: where the element number `at`, counted row by row, stands. */
export function indexText(at: number, shape: readonly number[]): string {
  const places: number[] = [];
  let rest = at;
  for (const size of [...shape].reverse()) {
    places.unshift(size > 0 ? rest % size : 0);
    rest = size > 0 ? Math.floor(rest / size) : 0;
  }
  return `[${places.join(', ')}]`;
}

/** Values in a line: the last dimension where it is short, so that lines are rows. */
export function columnsOf(shape: readonly number[]): number {
  const last = shape[shape.length - 1] ?? 1;
  return last >= 2 && last <= 8 ? last : 4;
}

/** True when a linear scale would hide the small bars: they span two powers of ten and more. */
export function spansDecades(counts: readonly number[]): boolean {
  const seen = counts.filter(count => count > 0);
  return seen.length > 1 && Math.max(...seen) >= 100 * Math.min(...seen);
}

/** Height of a bar, 0 to 1; on a log scale a single value still shows. */
export function barHeight(count: number, most: number, log: boolean): number {
  if (count <= 0 || most <= 0) {
    return 0;
  }
  return log ? Math.log1p(count) / Math.log1p(most) : count / most;
}

/** The last value of the whole numbers in a bin that ends before `edge`. */
export function lastBefore(edge: number | string): number | string {
  return typeof edge === 'number' ? edge - 1 : String(BigInt(edge) - 1n);
}
