import { describe, expect, it, test } from 'vitest';
import CASES from '../../../tests/data/number_cases.json';
import type { DimValue } from '../../schema';
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
} from './numberFormat';

type Value = number | null;

/** By name of the library's function. */
const FORMATS: Readonly<
  Record<keyof typeof CASES, (...args: never[]) => string>
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

describe('numbers are formatted as in the Python library', () => {
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

it('formats a unit after its prefix', () => {
  expect(formatCount(118e6, 'MACs')).toBe('118 M MACs');
  expect(formatCount(7, 'params')).toBe('7 params');
  expect(formatExact(1000, 'B')).toBe('1,000 B');
});

describe('all digits are formatted as by Intl', () => {
  const intl = new Intl.NumberFormat('en-US', { maximumFractionDigits: 6 });

  it.each([
    0,
    0.5,
    0.0000005,
    0.00000049999,
    1e-7,
    5e-324,
    0.999_999_5,
    999.999_999_5,
    1.000_000_5,
    2.000_001_5,
    123_456_789.123_456_5,
    0.1 + 0.2,
    1234.5,
    2 ** 53,
    2 ** 60 + 12_345,
    2 ** 69,
    1e21,
    1.2345e25,
    1.797_693_134_862_315_7e308
  ])('%d', value => {
    expect(formatExact(value)).toBe(intl.format(value));
    expect(formatExact(-value)).toBe((value ? '-' : '') + intl.format(value));
  });

  it('formats numbers of every magnitude', () => {
    let seed = 1;
    const random = () => (seed = (seed * 48_271) % 2_147_483_647) / 2 ** 31;
    for (let i = 0; i < 20_000; i++) {
      const value = random() * 10 ** Math.floor(random() * 40 - 12);
      expect(formatExact(value)).toBe(intl.format(value));
      const integer = Math.floor(random() * 10 ** Math.floor(random() * 16));
      expect(formatExact(integer)).toBe(intl.format(integer));
      // Halves of the last digit that is written.
      const half = Math.floor(random() * 1e8) / 1e7;
      expect(formatExact(half)).toBe(intl.format(half));
    }
  });
});

describe('unknown numbers', () => {
  it.each([null, undefined, NaN, Infinity])(
    '%s writes a dash, not a zero',
    v => {
      for (const format of [
        formatCount,
        formatBytes,
        formatExact,
        formatShare
      ]) {
        expect(format(v)).toBe(UNKNOWN);
      }
      expect(formatMetric(v, 'bytes')).toBe(UNKNOWN);
    }
  );
});

it('formatMetric uses the unit of the metric', () => {
  expect(formatMetric(2000, 'bytes')).toBe('2.0 kB');
  expect(formatMetric(2000, 'count')).toBe('2.0 K');
});
