/** A logarithmic scale. */

export interface ILogScale {
  readonly low: number;
  readonly high: number;
  readonly marks: readonly number[];
}

const STEPS = [[1, 2, 5], [1, 3], [1]];

/**
 * From below the smallest value to above the largest, at 1, 2 or 5 times a power of ten, with about
 * `count` even marks.
 */
export function logScale(values: readonly number[], count: number): ILogScale {
  const positive = values.filter(value => value > 0 && Number.isFinite(value));
  if (positive.length === 0) {
    return { low: 1, high: 10, marks: [] };
  }
  const [min, max] = [Math.min(...positive), Math.max(...positive)];
  const from = Math.floor(Math.log10(min)) - 1;
  const to = Math.ceil(Math.log10(max)) + 1;
  const ticksOf = (steps: readonly number[]): number[] =>
    Array.from({ length: to - from + 1 }, (_, index) => from + index).flatMap(
      power =>
        // Not 5 * 10 ** -3, which differs from 0.005 in its last digit.
        steps.map(step => Number(`${step}e${power}`))
    );
  const ends = ticksOf(STEPS[0]);
  const low = ends.filter(tick => tick <= min).pop()!;
  const high = ends.find(tick => tick >= max && tick > low)!;
  const inside = STEPS.map(steps =>
    ticksOf(steps).filter(tick => tick >= low && tick <= high)
  );
  const sparse = inside.find(marks => marks.length <= count + 1);
  const decades = inside[inside.length - 1];
  const step = Math.ceil(decades.length / Math.max(2, count));
  const marks = sparse ?? decades.filter((_, index) => index % step === 0);
  return { low, high, marks: marks.length > 1 ? marks : [low, high] };
}

/** Position of a value between `low` (0) and `high` (1); NaN if it has none. */
export function logPlace(value: number, low: number, high: number): number {
  return value > 0 && high > low
    ? Math.log(value / low) / Math.log(high / low)
    : Number.NaN;
}
