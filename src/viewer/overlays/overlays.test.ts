import { describe, expect, test } from 'vitest';
import { buildTree, contrast, decode, luminance } from '../../core';
import { testPayload } from '../testing/payload';
import {
  defaultOverlay,
  isOverlayId,
  nextOverlay,
  OVERLAY_IDS,
  OVERLAYS
} from '.';
import { rampOf } from './ramp';

const tree = buildTree(decode(testPayload()));

test('each overlay reads its number; unknown is no number', () => {
  expect(OVERLAYS.macs.value(tree, 2)).toBe(2000);
  expect(OVERLAYS.params.value(tree, 0)).toBe(100);
  expect(OVERLAYS.weight_bytes.value(tree, 5)).toBe(800);
  expect(OVERLAYS.flops.value(tree, 4)).toBeNaN();
  expect(OVERLAY_IDS.every(id => OVERLAYS[id].id === id)).toBe(true);
});

test('the first one is MACs, or parameters, or none', () => {
  expect(defaultOverlay(tree)).toBe('macs');
  const payload = testPayload();
  payload.nodes.macs = payload.nodes.macs.map(() => null);
  expect(defaultOverlay(buildTree(decode(payload)))).toBe('params');
  payload.nodes.params = payload.nodes.params.map(() => 0);
  expect(defaultOverlay(buildTree(decode(payload)))).toBeNull();
});

test('stepping goes through all and none', () => {
  let id = nextOverlay(null);
  const seen = [];
  for (; id !== null; id = nextOverlay(id)) {
    seen.push(id);
  }
  expect(seen).toEqual(OVERLAY_IDS);
  expect(isOverlayId('__proto__')).toBe(false);
});

describe.each([
  ['light', false],
  ['dark', true]
])('the ramp on a %s ground', (_name, dark) => {
  const { color, textColor } = rampOf(dark);
  const steps = Array.from({ length: 101 }, (_, i) => i / 100);

  test('has a luminance that only rises or only falls', () => {
    const direction = dark ? 1 : -1;
    for (let i = 1; i < steps.length; i++) {
      const step = luminance(color(steps[i])) - luminance(color(steps[i - 1]));
      expect(direction * step).toBeGreaterThanOrEqual(-0.012);
    }
    expect(
      direction * (luminance(color(1)) - luminance(color(0)))
    ).toBeGreaterThan(0.6);
  });

  test('can be read at every step', () => {
    for (const at of steps) {
      expect(contrast(color(at), textColor(at))).toBeGreaterThan(4.5);
    }
  });
});
