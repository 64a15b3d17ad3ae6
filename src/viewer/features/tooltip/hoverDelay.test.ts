import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { NEXT_HOVER_MS, HoverDelay, HOVER_MS } from './hoverDelay';

let targets: number[];
let delay: HoverDelay;

beforeEach(() => {
  vi.useFakeTimers();
  targets = [];
  delay = new HoverDelay(box => {
    targets.push(box);
    return box >= 0;
  });
});
afterEach(() => vi.useRealTimers());

const wait = (milliseconds: number) => vi.advanceTimersByTime(milliseconds);

test('a tooltip is shown after a delay, the next one sooner, and after a pause with the delay again', () => {
  delay.to(3);
  wait(HOVER_MS - 1);
  expect(targets).toEqual([]);
  wait(1);
  expect(targets).toEqual([3]);
  delay.to(5);
  expect(targets).toEqual([3, -1]);
  wait(NEXT_HOVER_MS);
  expect(targets).toEqual([3, -1, 5]);
  delay.to(-1);
  wait(2000);
  delay.to(3);
  wait(HOVER_MS - 1);
  expect(targets).toEqual([3, -1, 5, -1]);
  wait(1);
  expect(targets.at(-1)).toBe(3);
});

test('a moving pointer restarts the delay', () => {
  delay.to(3);
  for (let round = 0; round < 9; round++) {
    wait(HOVER_MS - 10);
    delay.again();
  }
  expect(targets).toEqual([]);
  wait(HOVER_MS);
  delay.again();
  wait(HOVER_MS);
  expect(targets).toEqual([3]);
});

test('a moving graph hides the tooltip and restarts the delay', () => {
  delay.to(3);
  wait(HOVER_MS);
  delay.moved();
  expect(targets).toEqual([3, -1]);
  wait(NEXT_HOVER_MS);
  delay.moved();
  wait(HOVER_MS - 1);
  expect(targets).toEqual([3, -1]);
  wait(1);
  expect(targets).toEqual([3, -1, 3]);
});

test('a dismissed tooltip stays hidden until another box is hovered', () => {
  delay.to(3);
  wait(HOVER_MS);
  delay.dismiss();
  expect(targets).toEqual([3, -1]);
  delay.again();
  delay.moved();
  delay.to(3);
  wait(2000);
  expect(targets).toEqual([3, -1]);
  delay.to(4);
  wait(HOVER_MS);
  expect(targets).toEqual([3, -1, 4]);
});

test('reset clears the hovered box', () => {
  delay.to(3);
  delay.reset();
  delay.again();
  wait(2000);
  expect(targets).toEqual([]);
  delay.to(3);
  wait(HOVER_MS);
  expect(targets).toEqual([3]);
});

test('a tooltip that could not be shown is not hidden', () => {
  const targets: number[] = [];
  const none = new HoverDelay(box => {
    targets.push(box);
    return false;
  });
  none.to(3);
  wait(HOVER_MS);
  none.to(-1);
  expect(targets).toEqual([3]);
});
