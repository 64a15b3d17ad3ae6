/** Linear and logarithmic plot scales. */

/** About `count` round values from 0 to at least `max`, in steps of 1, 2 or 5 times a power of ten. */
export function ticks(max: number, count: number): number[] {
  if (!(max > 0) || !Number.isFinite(max)) {
    return [0];
  }
  const rough = max / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step =
    ([1, 2, 5].find(factor => factor * power >= rough) ?? 10) * power;
  const marks = Math.ceil(max / step - 1e-9);
  return Array.from({ length: marks + 1 }, (_, i) => i * step);
}

/** Powers of ten from 1 to at least `max`, thinned to about `count`. */
export function decades(max: number, count: number): number[] {
  const decadeCount = Math.max(
    1,
    Math.ceil(Math.log10(Math.max(1, max)) - 1e-9)
  );
  const step = Math.ceil(decadeCount / Math.max(1, count));
  const marks = Math.ceil(decadeCount / step);
  return Array.from({ length: marks + 1 }, (_, i) => 10 ** (i * step));
}

/** A value's height between 0 and 1; NaN if it cannot be shown. */
export function position(value: number, max: number, log: boolean): number {
  if (!log) {
    return max > 0 ? value / max : 0;
  }
  return value >= 1 && max > 1
    ? Math.log10(value) / Math.log10(max)
    : value >= 0
      ? 0
      : Number.NaN;
}

/**
 * An SVG path of a series as steps, one per value. Values within the same pixel become a single stroke
 * from the smallest to the largest, so that no peak is lost. NaN leaves a gap.
 */
export function stepPath(
  values: ArrayLike<number>,
  width: number,
  y: (value: number) => number
): string {
  const count = values.length;
  const columns = Math.max(1, Math.floor(width));
  const parts: string[] = [];
  let open = false;
  const to = (x: number, value: number): void => {
    parts.push(`${open ? 'L' : 'M'}${round(x)} ${round(y(value))}`);
    open = true;
  };
  if (count <= columns) {
    for (let i = 0; i < count; i++) {
      if (Number.isNaN(values[i])) {
        open = false;
        continue;
      }
      to((i * width) / count, values[i]);
      to(((i + 1) * width) / count, values[i]);
    }
    return parts.join('');
  }
  for (let column = 0; column < columns; column++) {
    const from = Math.floor((column * count) / columns);
    const end = Math.floor(((column + 1) * count) / columns);
    let [min, max] = [Infinity, -Infinity];
    for (let i = from; i < end; i++) {
      // Comparisons with NaN are false.
      min = values[i] < min ? values[i] : min;
      max = values[i] > max ? values[i] : max;
    }
    if (min > max) {
      open = false;
      continue;
    }
    to(column + 0.5, min);
    if (max > min) {
      to(column + 0.5, max);
    }
  }
  return parts.join('');
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
