import { describe, expect, it, test } from 'vitest';
import CASES from '../../tests/data/number_cases.json';
import type { DimValue } from '../schema';
import {
  formatBytes,
  formatConfidence,
  formatCount,
  formatExact,
  formatMetric,
  formatSeconds,
  formatShape,
  formatShare,
  UNKNOWN
} from './units';

type Value = number | null;

/** By the name of the library's function. */
const FORMATS: Readonly<
  Record<keyof typeof CASES, (...given: never[]) => string>
> = {
  count: (value: Value) => formatCount(value),
  size: (value: Value) => formatBytes(value),
  seconds: (value: Value) => formatSeconds(value),
  exact: (value: Value) => formatExact(value),
  share: (part: Value, whole: Value) =>
    formatShare(part === null || !whole ? null : part / whole),
  confidence: (value: Value) => formatConfidence(value),
  shape: (shape: DimValue[] | null) => formatShape(shape)
};

describe('numbers are written as the library writes them', () => {
  const cases = Object.entries(CASES).flatMap(([name, list]) =>
    list.map(([...values]) => {
      const text = values.pop() as string;
      return [name as keyof typeof CASES, values, text] as const;
    })
  );

  test.each(cases)('%s %j is %s', (name, values, text) => {
    expect(FORMATS[name](...(values as never[]))).toBe(text);
  });
});

it('the unit follows the prefix', () => {
  expect(formatCount(118e6, 'MACs')).toBe('118 M MACs');
  expect(formatCount(7, 'params')).toBe('7 params');
  expect(formatExact(1000, 'B')).toBe('1,000 B');
});

describe('an unknown number', () => {
  it.each([null, undefined, NaN, Infinity])('%s is a dash, not a zero', v => {
    for (const format of [formatCount, formatBytes, formatExact, formatShare]) {
      expect(format(v)).toBe(UNKNOWN);
    }
    expect(formatMetric(v, 'bytes')).toBe(UNKNOWN);
  });
});

it('formatMetric follows the unit', () => {
  expect(formatMetric(2000, 'bytes')).toBe('2.0 kB');
  expect(formatMetric(2000, 'count')).toBe('2.0 K');
});
