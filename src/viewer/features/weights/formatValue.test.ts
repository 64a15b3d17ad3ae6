import { describe, expect, test } from 'vitest';
import {
  barHeight,
  lastBefore,
  columnsOf,
  formatValue,
  indexText,
  spansDecades
} from './formatValue';

describe('formatting of a value', () => {
  test.each([
    [0.123456789, '0.123457'],
    [-1.5, '-1.5'],
    [1e-30, '1e-30'],
    [12345678, '12,345,678'],
    ['9223372036854775807', '9,223,372,036,854,775,807'],
    ['-9223372036854775808', '-9,223,372,036,854,775,808'],
    ['NaN', 'NaN'],
    ['(1+2j)', '(1+2j)'],
    [true, 'true'],
    [0, '0'],
    [-0, '-0'],
    [1e300, '1e+300']
  ])('writes %s as %s', (value, text) => {
    expect(formatValue(value)).toBe(text);
  });
});

test('indices are in row-major order', () => {
  expect(indexText(0, [2, 3, 4])).toBe('[0, 0, 0]');
  expect(indexText(17, [2, 3, 4])).toBe('[1, 1, 1]');
  expect(indexText(0, [])).toBe('[]');
  expect(indexText(0, [0, 3])).toBe('[0, 0]');
});

test('lines are rows if rows are short', () => {
  expect(columnsOf([64, 3, 3])).toBe(3);
  expect(columnsOf([768, 3072])).toBe(4);
  expect(columnsOf([64, 1])).toBe(4);
  expect(columnsOf([])).toBe(4);
});

test('a log scale is offered if counts span decades', () => {
  expect(spansDecades([1, 0, 99])).toBe(false);
  expect(spansDecades([1, 0, 100])).toBe(true);
  expect(spansDecades([500])).toBe(false);
});

test('bars have heights relative to the largest', () => {
  expect(barHeight(0, 10, true)).toBe(0);
  expect(barHeight(5, 10, false)).toBe(0.5);
  expect(barHeight(10, 10, true)).toBe(1);
  expect(barHeight(1, 10_000, true)).toBeGreaterThan(0.05);
});

test('integer bins end before their edge', () => {
  expect(lastBefore(8)).toBe(7);
  expect(lastBefore('9223372036854775808')).toBe('9223372036854775807');
});
