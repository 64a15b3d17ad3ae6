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
function layouts(steps: readonly IExpansionStep[], ...zooms: number[]) {
  return (step: IExpansionStep) =>
    Promise.resolve({ width: 1000 / zooms[steps.indexOf(step)], height: 10 });
}

async function lastVisible(
  visible: number[],
  zooms: number[]
): Promise<number> {
  const steps = stepsOf(...visible);
  const last = await lastReadable(steps, PANE, layouts(steps, ...zooms));
  return last!.step.visible;
}

it('expands as long as everything is readable', async () => {
  expect(await lastVisible([1, 7, 12, 20], [1, 1, 0.9, 0.7])).toBe(12);
  expect(await lastVisible([1, 7, 12, 20], [1, 1, 1, 0.9])).toBe(20);
});

it('expands low-cost steps only if the zoom stays the same', async () => {
  expect(await lastVisible([1, 7, -12], [1, 1, 0.9])).toBe(7);
  expect(await lastVisible([1, 7, -12], [1, 1, 1])).toBe(12);
});

it('uses the first step with enough boxes, unless one with slightly fewer is readable', async () => {
  expect(await lastVisible([1, 3, 9, 20], [1, 1, 0.5, 0.4])).toBe(9);
  expect(await lastVisible([1, 5, 9, 20], [1, 0.95, 0.6, 0.4])).toBe(5);
  expect(await lastVisible([1, 5, 9, 20], [1, 0.8, 0.6, 0.4])).toBe(9);
});

it('expands a repeat if the pane would stay mostly empty', async () => {
  const repeat = (height: number, zoom: number) => {
    const steps = stepsOf(1, 12, 20);
    steps[2] = { ...steps[2], isSpare: true };
    const sizes = [
      { width: 100, height: 100 },
      { width: 1000, height },
      { width: 1000, height: 600 / zoom }
    ];
    const show = (step: IExpansionStep) =>
      Promise.resolve(sizes[steps.indexOf(step)]);
    return lastReadable(steps, PANE, show).then(last => last?.step.visible);
  };
  expect(await repeat(300, 1)).toBe(20);
  expect(await repeat(300, 0.8)).toBe(12);
  expect(await repeat(400, 1)).toBe(12);
});

it('prefers more boxes in rows to one long row in an empty pane', async () => {
  const chosenBoxes = (height: number) => {
    const steps = stepsOf(1, 7, 12);
    const sizes = [
      { width: 100, height: 100 },
      { width: 1200, height },
      { width: 1000, height: 600 }
    ];
    const show = (step: IExpansionStep) =>
      Promise.resolve(sizes[steps.indexOf(step)]);
    return lastReadable(steps, PANE, show).then(last => last?.step.visible);
  };
  expect(await chosenBoxes(200)).toBe(12);
  expect(await chosenBoxes(600)).toBe(7);
});

it('does not expand repeats for a single row', async () => {
  const steps = stepsOf(1, 12, 20);
  steps[2] = { ...steps[2], isSpare: true };
  const last = await lastNotLonger(steps, Infinity, () => Promise.resolve(1));
  expect(last?.visible).toBe(12);
});

it('stops if another layout overtakes it', async () => {
  const steps = stepsOf(1, 7, 12);
  expect(
    await lastReadable(steps, PANE, () => Promise.resolve(null))
  ).toBeNull();
  expect(
    await lastNotLonger(steps, 100, () => Promise.resolve(null))
  ).toBeNull();
});

it('limits a single row by the pane, and low-cost steps more strictly', async () => {
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
