import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { NEXT_HOVER_MS, HoverDelay, HOVER_MS } from './hoverDelay';

let told: number[];
let rest: HoverDelay;

beforeEach(() => {
  vi.useFakeTimers();
  told = [];
  rest = new HoverDelay(box => {
    told.push(box);
    return box >= 0;
  });
});
afterEach(() => vi.useRealTimers());

const wait = (milliseconds: number) => vi.advanceTimersByTime(milliseconds);

test('a tooltip is shown after a delay, the next one sooner, and after a pause with the delay again', () => {
  rest.to(3);
  wait(HOVER_MS - 1);
  expect(told).toEqual([]);
  wait(1);
  expect(told).toEqual([3]);
  rest.to(5);
  expect(told).toEqual([3, -1]);
  wait(NEXT_HOVER_MS);
  expect(told).toEqual([3, -1, 5]);
  rest.to(-1);
  wait(2000);
  rest.to(3);
  wait(HOVER_MS - 1);
  expect(told).toEqual([3, -1, 5, -1]);
  wait(1);
  expect(told.at(-1)).toBe(3);
});

test('a moving pointer restarts the delay', () => {
  rest.to(3);
  for (let turn = 0; turn < 9; turn++) {
    wait(HOVER_MS - 10);
    rest.again();
  }
  expect(told).toEqual([]);
  wait(HOVER_MS);
  rest.again();
  wait(HOVER_MS);
  expect(told).toEqual([3]);
});

test('a moving graph hides the tooltip and restarts the delay', () => {
  rest.to(3);
  wait(HOVER_MS);
  rest.moved();
  expect(told).toEqual([3, -1]);
  wait(NEXT_HOVER_MS);
  rest.moved();
  wait(HOVER_MS - 1);
  expect(told).toEqual([3, -1]);
  wait(1);
  expect(told).toEqual([3, -1, 3]);
});

test('a dismissed tooltip stays hidden until another box is hovered', () => {
  rest.to(3);
  wait(HOVER_MS);
  rest.dismiss();
  expect(told).toEqual([3, -1]);
  rest.again();
  rest.moved();
  rest.to(3);
  wait(2000);
  expect(told).toEqual([3, -1]);
  rest.to(4);
  wait(HOVER_MS);
  expect(told).toEqual([3, -1, 4]);
});

test('reset clears the hovered box', () => {
  rest.to(3);
  rest.reset();
  rest.again();
  wait(2000);
  expect(told).toEqual([]);
  rest.to(3);
  wait(HOVER_MS);
  expect(told).toEqual([3]);
});

test('a tooltip that could not be shown is not hidden', () => {
  const asked: number[] = [];
  const none = new HoverDelay(box => {
    asked.push(box);
    return false;
  });
  none.to(3);
  wait(HOVER_MS);
  none.to(-1);
  expect(asked).toEqual([3]);
});
