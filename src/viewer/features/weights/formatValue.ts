/** Formats of single values and indices of a tensor. */

import { formatExact } from '../../../core';

export type WeightValue = number | string | boolean | null;

/** Integers in full with separators, other numbers in six significant digits, texts unchanged. */
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

/** Groups digits of integers that exceed JavaScript's numbers. */
function groupDigits(digits: string): string {
  return digits.replace(/\B(?=(\d{3})+$)/g, ',');
}

/** Multi-dimensional index of element `index` in row-major order: `[0, 3, 12]`. */
export function indexText(index: number, shape: readonly number[]): string {
  const indices: number[] = [];
  let remaining = index;
  for (const size of [...shape].reverse()) {
    indices.unshift(size > 0 ? remaining % size : 0);
    remaining = size > 0 ? Math.floor(remaining / size) : 0;
  }
  return `[${indices.join(', ')}]`;
}

/** Values per line: the last dimension if it is short, so that lines are rows. */
export function columnsOf(shape: readonly number[]): number {
  const last = shape[shape.length - 1] ?? 1;
  return last >= 2 && last <= 8 ? last : 4;
}

/** True if a linear scale would hide the small bars: they span at least two powers of ten. */
export function spansDecades(counts: readonly number[]): boolean {
  const filled = counts.filter(count => count > 0);
  return filled.length > 1 && Math.max(...filled) >= 100 * Math.min(...filled);
}

/** Height of a bar, 0 to 1; on a logarithmic scale a single value is still visible. */
export function barHeight(
  count: number,
  largest: number,
  log: boolean
): number {
  if (count <= 0 || largest <= 0) {
    return 0;
  }
  return log ? Math.log1p(count) / Math.log1p(largest) : count / largest;
}

/** The last whole number in a bin that ends before `edge`. */
export function lastBefore(edge: number | string): number | string {
  return typeof edge === 'number' ? edge - 1 : String(BigInt(edge) - 1n);
}
