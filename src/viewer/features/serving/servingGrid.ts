/** Curves of a text generation plan, by batch and context. */

import type { ServingPlan, ServingPoint } from '../../../schema';

/** The variable along the curves; the other one distinguishes them. */
export type Along = 'batch' | 'context';

export interface IServingGrid {
  readonly batch: readonly number[];
  readonly context: readonly number[];
  at(batch: number, context: number): ServingPoint | undefined;
}

export function gridOf({ points }: ServingPlan): IServingGrid {
  const bySizes = new Map(
    points.map(point => [`${point.batch} ${point.context}`, point])
  );
  const values = (name: Along): number[] =>
    [...new Set(points.map(point => point[name]))].sort((a, b) => a - b);
  return {
    batch: values('batch'),
    context: values('context'),
    at: (batch, context) => bySizes.get(`${batch} ${context}`)
  };
}

/** At most `maxCount` of the values, evenly spread, including the first and the last. */
export function indexRange(
  values: readonly number[],
  maxCount: number
): number[] {
  if (values.length <= maxCount) {
    return [...values];
  }
  const step = (values.length - 1) / (maxCount - 1);
  return Array.from(
    { length: maxCount },
    (_, index) => values[Math.round(index * step)]
  );
}

/** The points of one curve, in order. */
export function curveOf(
  grid: IServingGrid,
  along: Along,
  other: number
): (ServingPoint | undefined)[] {
  return grid[along].map(value =>
    along === 'batch' ? grid.at(value, other) : grid.at(other, value)
  );
}
