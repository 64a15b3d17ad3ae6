import { expect, test } from 'vitest';
import { decode } from '../../core';
import { testPayload } from '../testing/payload';
import { timelineOf } from '../testing/timeline';
import { Lifetimes, peakOf } from './alive';

// Tensors: x 0, w0 1, made_0 2, active_0 3, w1 4, made_1 5, active_1 6, y 7; each 2 × 8 floats.
const payload = testPayload();
const model = decode(payload);

test('what is alive while a node runs, without weights', () => {
  const lifetimes = new Lifetimes(model, timelineOf(payload));
  const names = (step: number): string[] =>
    lifetimes.at(step).map(({ tensor }) => model.tensorName(tensor));
  expect(names(0)).toEqual(['x', 'made_0']);
  expect(names(1)).toEqual(['made_0', 'active_0']);
  expect(names(4).sort()).toEqual(['active_1', 'y']);
  expect(lifetimes.at(0)[0].bytes).toBe(64);
});

test('tensors in the same memory are one piece, named by the newest', () => {
  const timeline = timelineOf(payload, { 3: 2 });
  const alive = new Lifetimes(model, timeline).at(1);
  expect(alive).toEqual([{ tensor: 3, bytes: 64, sharing: 2 }]);
});

test('unknown sizes stay unknown', () => {
  const alive = new Lifetimes(model, timelineOf(payload)).at(4);
  expect(alive.find(({ tensor }) => tensor === 7)?.bytes).toBeNull();
});

test('the first largest value is the peak', () => {
  expect(peakOf([1, 5, 5, 2])).toBe(1);
  expect(peakOf([])).toBe(-1);
});
