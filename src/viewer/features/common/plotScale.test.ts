import { describe, expect, test } from 'vitest';
import { decades, position, stepPath, ticks } from './plotScale';

test.each([
  [10, 5, [0, 2, 4, 6, 8, 10]],
  [1, 4, [0, 0.5, 1]],
  [7, 3, [0, 5, 10]],
  [0, 3, [0]],
  [NaN, 3, [0]]
])('ticks up to %d', (max, count, marks) => {
  expect(ticks(max, count)).toEqual(marks);
});

test('decades cover the largest value and are limited in number', () => {
  expect(decades(1, 4)).toEqual([1, 10]);
  expect(decades(1000, 4)).toEqual([1, 10, 100, 1000]);
  expect(decades(3e9, 4)).toEqual([1, 1e3, 1e6, 1e9, 1e12]);
});

test('positions are shares of a linear or log axis', () => {
  expect(position(5, 10, false)).toBe(0.5);
  expect(position(100, 10_000, true)).toBeCloseTo(0.5);
  expect(position(0, 10_000, true)).toBe(0);
  expect(position(NaN, 10_000, true)).toBeNaN();
});

describe('paths', () => {
  const identity = (value: number): number => value;

  test('draw each value as a horizontal step', () => {
    expect(stepPath([1, 3], 10, identity)).toBe('M0 1L5 1L5 3L10 3');
  });

  test('have a gap at unknown values', () => {
    expect(stepPath([1, NaN, 3], 9, identity)).toBe('M0 1L3 1M6 3L9 3');
    expect(stepPath([NaN], 9, identity)).toBe('');
  });

  test('keep every peak if many values share a pixel', () => {
    const values = new Float64Array(100_000).fill(1);
    values[77_777] = 42;
    const path = stepPath(values, 300, identity);
    expect(path).toContain(' 42');
    expect(path.split(/[ML]/).length).toBeLessThan(700);
  });
});
