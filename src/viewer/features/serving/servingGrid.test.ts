import { expect, test } from 'vitest';
import type { ServingPlan } from '../../../schema';
import { curveOf, gridOf, indexRange } from './servingGrid';

test('points are found by batch and context, in any order', () => {
  const points = [
    { batch: 8, context: 256 },
    { batch: 1, context: 1024 },
    { batch: 1, context: 256 }
  ];
  const grid = gridOf({ points } as unknown as ServingPlan);
  expect(grid.batch).toEqual([1, 8]);
  expect(grid.context).toEqual([256, 1024]);
  expect(curveOf(grid, 'batch', 256)).toEqual([points[2], points[0]]);
  // Combinations that were not planned have no point.
  expect(curveOf(grid, 'context', 8)).toEqual([points[0], undefined]);
});

test('curves are spread over the values, ends included', () => {
  expect(indexRange([1, 2, 3], 4)).toEqual([1, 2, 3]);
  expect(indexRange([1, 2, 4, 8, 16, 32, 64, 128, 256], 4)).toEqual([
    1, 8, 32, 256
  ]);
  for (let count = 5; count < 40; count++) {
    const values = Array.from({ length: count }, (_, index) => index);
    const indices = indexRange(values, 4);
    expect(new Set(indices).size).toBe(4);
    expect([indices[0], indices[3]]).toEqual([0, count - 1]);
  }
});
