import { describe, expect, it } from 'vitest';
import {
  contrast,
  createScale,
  histogram,
  luminance,
  rampColor,
  RAMP_STEPS,
  readableTextColor
} from './colorScale';

const steps = Array.from({ length: RAMP_STEPS }, (_, i) =>
  rampColor(i / (RAMP_STEPS - 1))
);

describe('ramp', () => {
  it('increases in brightness with every step', () => {
    const luminances = steps.map(luminance);
    for (let i = 1; i < luminances.length; i++) {
      expect(luminances[i]).toBeGreaterThan(luminances[i - 1]);
    }
  });

  it('gives readable text on every step', () => {
    for (const color of steps) {
      expect(contrast(color, readableTextColor(color))).toBeGreaterThanOrEqual(
        4.5
      );
    }
  });

  it('has distinct steps and clamps values outside its range', () => {
    expect(new Set(steps).size).toBe(RAMP_STEPS);
    expect(rampColor(-1)).toBe(steps[0]);
    expect(rampColor(2)).toBe(steps[RAMP_STEPS - 1]);
  });
});

it('computes the WCAG contrast ratio', () => {
  expect(contrast('#000000', '#ffffff')).toBeCloseTo(21);
  expect(contrast('#777777', '#ffffff')).toBeCloseTo(4.48, 2);
});

describe('createScale', () => {
  const values = [0, 1, 10, 100, 1000, NaN];

  it('maps linearly from zero', () => {
    const scale = createScale(values, 'linear');
    expect([scale.min, scale.max]).toEqual([0, 1000]);
    expect(scale.position(500)).toBeCloseTo(0.5);
    expect(scale.position(5000)).toBe(1);
  });

  it.each(['linear', 'log', 'rank'] as const)(
    'maps a single value to the end of the ramp in %s mode',
    mode => {
      const scale = createScale([0, 0, 11e9], mode);
      expect(scale.position(11e9)).toBe(1);
      expect(scale.position(0)).toBe(0);
      for (const position of [0.3, 0.7, 1]) {
        expect(scale.value(position)).toBeLessThanOrEqual(11e9 * (1 + 1e-9));
      }
    }
  );

  it('maps powers to equal distances in log mode, with zero first', () => {
    const scale = createScale(values, 'log');
    const positions = [1, 10, 100, 1000].map(scale.position);
    expect(positions[1] - positions[0]).toBeCloseTo(
      positions[2] - positions[1]
    );
    expect(positions[2] - positions[1]).toBeCloseTo(
      positions[3] - positions[2]
    );
    expect(scale.position(0)).toBe(0);
    expect(positions[0]).toBeGreaterThan(0);
    expect(positions[3]).toBe(1);
  });

  it('spreads distinct values evenly in rank mode', () => {
    const scale = createScale([5, 5, 5, 7, 1e9], 'rank');
    expect([5, 7, 1e9].map(scale.position)).toEqual([0, 0.5, 1]);
  });

  it.each(['linear', 'log', 'rank'] as const)(
    '%s distinguishes unknown from zero',
    mode => {
      const scale = createScale(values, mode);
      expect(scale.color(NaN)).toBeNull();
      expect(scale.color(0)).toBe(rampColor(0));
    }
  );

  it.each(['linear', 'log', 'rank'] as const)(
    '%s has ticks at the positions of their values',
    mode => {
      const scale = createScale(values, mode);
      for (const { value, position } of scale.ticks(5)) {
        expect(scale.position(value)).toBeCloseTo(position, 6);
      }
    }
  );

  it.each(['linear', 'log', 'rank'] as const)(
    '%s handles unknown, zero and single values',
    mode => {
      const nothing = createScale([NaN, NaN], mode);
      expect(nothing.color(3)).toBeNull();
      expect(nothing.ticks(3)).toEqual([]);
      expect(createScale([0, 0], mode).position(0)).toBe(0);
      expect(createScale([7], mode).position(7)).toBeLessThanOrEqual(1);
    }
  );

  it.each(['linear', 'log', 'rank'] as const)(
    '%s maps a given range and clamps values outside it',
    mode => {
      const scale = createScale([1, 20, 30, 40, 5000], mode, {
        low: 15,
        high: 45
      });
      expect([scale.min, scale.max]).toEqual([20, 40]);
      expect(scale.position(5000)).toBe(1);
      expect(scale.position(40)).toBe(1);
      expect(scale.position(1)).toBeLessThanOrEqual(scale.position(20));
      expect(scale.position(20)).toBeLessThan(scale.position(30));
      expect(scale.value(scale.position(30))).toBeCloseTo(30, 6);
      const none = createScale([1, 2], mode, { low: 7, high: 9 });
      expect(none.position(1)).toBeNaN();
      expect(none.value(0.5)).toBeNaN();
    }
  );

  it('counts values per bin of the ramp', () => {
    const scale = createScale([0, 10], 'linear');
    const counts = histogram(scale, [0, 1, 4, 9, 10, NaN], 2);
    expect(Array.from(counts)).toEqual([3, 2]);
  });
});
