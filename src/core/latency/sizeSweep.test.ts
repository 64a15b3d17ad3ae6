import { describe, expect, test } from 'vitest';
import type { DimInfo } from '../../schema';
import type { IDeviceTime } from './deviceTimes';
import {
  bestOf,
  isBatch,
  KNEE_SHARE,
  kneeOf,
  readSizes,
  sizesToTry,
  unknownPoint,
  type ISweepPoint
} from './sizeSweep';

const dim = (name: string, value: number): DimInfo =>
  ({ name, value, suggested: null }) as DimInfo;

const point = (
  size: number,
  seconds: number,
  fits: boolean | null = true
): ISweepPoint => ({
  ...unknownPoint(size, ''),
  time: { seconds } as IDeviceTime,
  itemsPerSecond: size / seconds,
  fits
});

describe('sizes of a sweep', () => {
  test('are powers of two and the current value for a batch', () => {
    expect(sizesToTry(dim('batch', 24))).toEqual([
      1, 2, 4, 8, 16, 24, 32, 64, 128, 256
    ]);
    expect(isBatch({ name: 'N' })).toBe(true);
    expect(isBatch({ name: 'sequence' })).toBe(false);
  });

  test('are fractions and multiples of the current value for other dimensions', () => {
    expect(sizesToTry(dim('height', 640))).toEqual([
      40, 80, 160, 320, 640, 1280, 2560, 5120
    ]);
    expect(sizesToTry(dim('seq', 1))).toEqual([1, 2, 4, 8]);
    for (let size = 1; size < 400; size++) {
      const sizes = sizesToTry(dim('seq', size));
      expect(sizes).toContain(size);
      expect(sizes.every(other => Number.isInteger(other) && other > 0)).toBe(
        true
      );
    }
  });

  test('are parsed from text, or rejected', () => {
    expect(readSizes('4, 1 2;2')).toEqual([1, 2, 4]);
    for (const bad of [
      '',
      '0',
      '-1',
      '1.5',
      'x',
      '99999999999',
      '2147483649'
    ]) {
      expect(readSizes(bad)).toBeNull();
    }
    expect(
      readSizes(Array.from({ length: 65 }, (_, index) => index + 1).join())
    ).toBeNull();
  });
});

describe('the best size', () => {
  test('has the highest throughput that fits; the knee is the smallest size with 90 % of it', () => {
    const points = [
      point(1, 1),
      point(2, 1.05),
      point(4, 2.1),
      point(8, 4),
      point(16, 4, false)
    ];
    expect(bestOf(points)).toBe(3);
    expect(kneeOf(points)).toBe(1);
    expect(points[1].itemsPerSecond).toBeGreaterThan(
      KNEE_SHARE * points[3].itemsPerSecond
    );
  });

  test('is never an unknown point; of equal throughputs, the faster one wins', () => {
    expect(bestOf([unknownPoint(1, 'x')])).toBe(-1);
    expect(kneeOf([])).toBe(-1);
    expect(bestOf([point(4, 4), point(2, 2), unknownPoint(8, 'x')])).toBe(1);
    expect(bestOf([point(1, 1, false), point(2, 8, null)])).toBe(1);
  });
});
