import { describe, expect, it } from 'vitest';
import {
  formatBytes,
  formatCount,
  formatExact,
  formatMetric,
  formatSeconds,
  formatShare,
  UNKNOWN
} from './units';

describe('formatCount', () => {
  it.each([
    [0, '0'],
    [1, '1'],
    [999, '999'],
    [1000, '1.0 K'],
    [1234, '1.23 K'],
    [9408, '9.41 K'],
    [12345, '12.3 K'],
    [118013952, '118 M'],
    [999499, '999 K'],
    [999500, '1.0 M'],
    [999999, '1.0 M'],
    [25557032, '25.6 M'],
    [4.09e9, '4.09 G'],
    [1e12, '1.0 T'],
    [2e21, '2.0 Z'],
    [3.5e30, '3500000 Y'],
    [0.25, '0.25'],
    [-1500, '-1.5 K']
  ])('writes %d as %s', (value, text) => {
    expect(formatCount(value)).toBe(text);
  });

  it('puts the unit behind the prefix', () => {
    expect(formatCount(118e6, 'MACs')).toBe('118 M MACs');
    expect(formatCount(7, 'params')).toBe('7 params');
  });
});

describe('formatBytes', () => {
  it.each([
    [0, '0 B'],
    [512, '512 B'],
    [1000, '1.0 kB'],
    [3.2e6, '3.2 MB'],
    [102.4e6, '102 MB'],
    [7.5e9, '7.5 GB']
  ])('writes %d as %s', (value, text) => {
    expect(formatBytes(value)).toBe(text);
  });
});

describe('formatSeconds', () => {
  it.each([
    [0, '0 s'],
    [12.34, '12.3 s'],
    [1, '1 s'],
    [0.99949, '999 ms'],
    [0.9996, '1.0 s'],
    [1.284e-3, '1.28 ms'],
    [5.28e-6, '5.28 µs'],
    [2e-6, '2.0 µs'],
    [3.1e-8, '31.0 ns'],
    [NaN, UNKNOWN],
    [null, UNKNOWN]
  ])('writes %s as %s', (value, text) => {
    expect(formatSeconds(value)).toBe(text);
  });
});

describe('formatExact', () => {
  it.each([
    [0, '0'],
    [999, '999'],
    [25557032, '25,557,032'],
    [-1234, '-1,234'],
    [Number.MAX_SAFE_INTEGER, '9,007,199,254,740,991']
  ])('writes %d as %s', (value, text) => {
    expect(formatExact(value)).toBe(text);
  });

  it('adds a unit', () => {
    expect(formatExact(1000, 'B')).toBe('1,000 B');
  });
});

describe('formatShare', () => {
  it.each([
    [0, '0 %'],
    [0.0004, '<0.1 %'],
    [0.015, '1.5 %'],
    [0.42, '42 %'],
    [0.9996, '100 %'],
    [1, '100 %']
  ])('writes %d as %s', (value, text) => {
    expect(formatShare(value)).toBe(text);
  });
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
