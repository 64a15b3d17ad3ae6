import { expect, test } from 'vitest';
import { logPlace, logScale } from './logScale';

test('the scale contains every value and has at least two even marks', () => {
  let seed = 7;
  const random = (): number => {
    seed = (seed * 16807) % 2147483647;
    return seed / 2147483647;
  };
  for (let round = 0; round < 500; round++) {
    const values = Array.from(
      { length: 1 + Math.floor(random() * 5) },
      () => 10 ** (random() * 24 - 12)
    );
    const count = 2 + Math.floor(random() * 8);
    const { low, high, marks } = logScale([...values, Number.NaN, 0], count);
    for (const value of values) {
      const position = logPlace(value, low, high);
      expect(position).toBeGreaterThanOrEqual(0);
      expect(position).toBeLessThanOrEqual(1);
    }
    expect(marks.length).toBeGreaterThanOrEqual(2);
    expect(marks.length).toBeLessThanOrEqual(count + 1);
    expect(marks.every(tick => tick >= low && tick <= high)).toBe(true);
    const gaps = marks
      .slice(1)
      .map((tick, index) => Math.log10(tick / marks[index]));
    // 1, 2, 5 have steps of 0.30 and 0.40; 1, 3 of 0.48 and 0.52; otherwise steps are equal.
    expect(Math.max(...gaps) / Math.min(...gaps)).toBeLessThan(1.4);
  }
});

test('non-positive values have no position', () => {
  expect(logPlace(0, 1, 10)).toBeNaN();
  expect(logPlace(Number.NaN, 1, 10)).toBeNaN();
  expect(logScale([], 4).marks).toEqual([]);
});
