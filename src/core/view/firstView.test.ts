import { expect, it } from 'vitest';
import { lastNotLonger, lastReadable } from './firstView';
import type { IExpansionStep } from './initialExpansion';

const PANE = { w: 1048, h: 648 };

/** Steps with this many boxes; negative numbers mark low-cost steps. */
function stepsOf(...visible: number[]): IExpansionStep[] {
  return visible.map(count => ({
    open: new Uint8Array(0),
    hidden: [],
    visible: Math.abs(count),
    lowCost: count < 0
  }));
}

/** The layout of a step is as wide as these zooms require. */
function pictures(steps: readonly IExpansionStep[], ...zooms: number[]) {
  return (step: IExpansionStep) =>
    Promise.resolve({ width: 1000 / zooms[steps.indexOf(step)], height: 10 });
}

async function chosen(visible: number[], zooms: number[]): Promise<number> {
  const steps = stepsOf(...visible);
  const found = await lastReadable(steps, PANE, pictures(steps, ...zooms));
  return found!.step.visible;
}

it('Opens as long as all of it can be read', async () => {
  expect(await chosen([1, 7, 12, 20], [1, 1, 0.9, 0.7])).toBe(12);
  expect(await chosen([1, 7, 12, 20], [1, 1, 1, 0.9])).toBe(20);
});

it('What tells little is opened only where that costs nothing', async () => {
  expect(await chosen([1, 7, -12], [1, 1, 0.9])).toBe(7);
  expect(await chosen([1, 7, -12], [1, 1, 1])).toBe(12);
});

it('The first picture that says enough is taken, unless a little less can be read', async () => {
  expect(await chosen([1, 3, 9, 20], [1, 1, 0.5, 0.4])).toBe(9);
  expect(await chosen([1, 5, 9, 20], [1, 0.95, 0.6, 0.4])).toBe(5);
  expect(await chosen([1, 5, 9, 20], [1, 0.8, 0.6, 0.4])).toBe(9);
});

it('Stops where something else comes in between', async () => {
  const steps = stepsOf(1, 7, 12);
  expect(
    await lastReadable(steps, PANE, () => Promise.resolve(null))
  ).toBeNull();
  expect(
    await lastNotLonger(steps, 100, () => Promise.resolve(null))
  ).toBeNull();
});

it('A row may be as long as the pane allows, what tells little less', async () => {
  const steps = stepsOf(1, 7, 12, -15);
  const lengths = [10, 50, 80, 90];
  const last = (length: number) =>
    lastNotLonger(steps, length, step =>
      Promise.resolve(lengths[steps.indexOf(step)])
    ).then(step => step?.visible);
  expect(await last(60)).toBe(7);
  expect(await last(100)).toBe(12);
  expect(await last(130)).toBe(15);
  expect(await last(Infinity)).toBe(15);
});
