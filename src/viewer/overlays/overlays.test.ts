import { describe, expect, test } from 'vitest';
import {
  buildTree,
  contrast,
  createGraphView,
  decodePayload,
  luminance
} from '../../core';
import { plainSizer } from '../../core/testing/sizer';
import { testPayload } from '../testing/payload';
import {
  defaultOverlay,
  isOverlayId,
  nextOverlay,
  OVERLAY_IDS,
  OVERLAYS,
  setUserValues
} from '.';
import { entityText, computeOverlay, visibleEntities } from './computeOverlay';
import { rampOf } from './heatmapRamp';

const tree = buildTree(decodePayload(testPayload()));

test('each overlay reads its metric; unknown is NaN', () => {
  expect(OVERLAYS.macs.value(tree, 2)).toBe(2000);
  expect(OVERLAYS.params.value(tree, 0)).toBe(100);
  expect(OVERLAYS.weight_bytes.value(tree, 5)).toBe(800);
  expect(OVERLAYS.flops.value(tree, 4)).toBeNaN();
  expect(OVERLAY_IDS.every(id => OVERLAYS[id].id === id)).toBe(true);
});

test('the default is MACs, else parameters, else none', () => {
  expect(defaultOverlay(tree)).toBe('macs');
  const payload = testPayload();
  payload.nodes.macs = payload.nodes.macs.map(() => null);
  expect(defaultOverlay(buildTree(decodePayload(payload)))).toBe('params');
  payload.nodes.params = payload.nodes.params.map(() => 0);
  expect(defaultOverlay(buildTree(decodePayload(payload)))).toBeNull();
});

test('cycling includes all overlays with data, and none', () => {
  const steps = (): (string | null)[] => {
    const visited: (string | null)[] = [];
    let id = nextOverlay(null, tree);
    for (; id !== null; id = nextOverlay(id, tree)) {
      visited.push(id);
    }
    return visited;
  };
  const otherIds = OVERLAY_IDS.filter(
    id => id !== 'user' && id !== 'changes' && id !== 'latency'
  );
  expect(steps()).toEqual(otherIds);
  setUserValues(tree, { label: 'time', unit: 'ms', values: new Map([[2, 5]]) });
  expect(steps()).toEqual([...otherIds, 'user']);
  setUserValues(tree, null);
  expect(steps()).toEqual(otherIds);
  expect(isOverlayId('__proto__')).toBe(false);
});

test('intensity is FLOPs per byte, for a group the quotient of its sums', () => {
  const { nodeCount, metrics } = tree.model;
  for (let entity = 0; entity < nodeCount; entity++) {
    const bytes = metrics.read_bytes[entity] + metrics.write_bytes[entity];
    if (bytes > 0) {
      expect(OVERLAYS.intensity.value(tree, entity)).toBe(
        metrics.flops[entity] / bytes
      );
    }
  }
  for (let group = 0; group < tree.groupCount; group++) {
    const sum = (metric: 'flops' | 'read_bytes' | 'write_bytes'): number =>
      tree.groupMetrics[metric][group];
    const bytes = sum('read_bytes') + sum('write_bytes');
    if (bytes > 0) {
      expect(OVERLAYS.intensity.value(tree, nodeCount + group)).toBe(
        sum('flops') / bytes
      );
    }
  }
});

test('an incomplete sum of a group is a lower bound, its quotient unknown', () => {
  const payload = testPayload();
  payload.nodes.macs[1] = null;
  payload.nodes.flops[1] = null;
  const incomplete = buildTree(decodePayload(payload));
  const block = incomplete.model.nodeCount + incomplete.nodeParent[1];
  const text = (id: 'macs' | 'params', entity: number): string =>
    entityText(OVERLAYS[id], incomplete, entity).replace(/\u00a0/g, ' ');
  expect(text('macs', block)).toBe('≥ 1.0 K MACs');
  expect(text('macs', 0)).toBe('1.0 K MACs');
  expect(text('macs', 1)).toBe('—');
  expect(text('params', block)).toBe('100 params');
  expect(OVERLAYS.intensity.value(incomplete, block)).toBeNaN();
  payload.nodes.macs[0] = null;
  payload.nodes.macs[1] = 0;
  // "At least 0" is not a value.
  const nothing = buildTree(decodePayload(payload));
  expect(entityText(OVERLAYS.macs, nothing, block)).toBe('—');
  expect(OVERLAYS.intensity.value(incomplete, 0)).toBeGreaterThan(0);
});

test('values of the host are summed for groups', () => {
  const { nodeCount } = tree.model;
  const values = new Map([
    [0, 1.5],
    [2, 4],
    [99_999, 7],
    [3, Number.NaN]
  ]);
  setUserValues(tree, { label: 'error', unit: '', values });
  expect(OVERLAYS.user.value(tree, 2)).toBe(4);
  expect(OVERLAYS.user.value(tree, 1)).toBeNaN();
  for (let group = 0; group < tree.groupCount; group++) {
    const inside = (node: number): boolean => {
      let ancestor = tree.nodeParent[node];
      while (ancestor >= 0 && ancestor !== group) {
        ancestor = tree.groupParent[ancestor];
      }
      return ancestor === group;
    };
    const sum = (inside(0) ? 1.5 : 0) + (inside(2) ? 4 : 0);
    expect(OVERLAYS.user.value(tree, nodeCount + group)).toBe(
      sum === 0 ? Number.NaN : sum
    );
  }
  setUserValues(tree, { label: 'error', unit: '', values, largest: true });
  const groups = Array.from({ length: tree.groupCount }, (_, group) =>
    OVERLAYS.user.value(tree, nodeCount + group)
  );
  expect(new Set(groups.filter(value => !Number.isNaN(value)))).toEqual(
    new Set([1.5, 4].filter(value => groups.includes(value)))
  );
  expect(groups).toContain(4);
  setUserValues(tree, null);
  expect(OVERLAYS.user.value(tree, 2)).toBeNaN();
});

describe.each([
  ['light', false],
  ['dark', true]
])('the ramp on a %s background', (_name, dark) => {
  const { color, textColor } = rampOf(dark);
  const steps = Array.from({ length: 101 }, (_, i) => i / 100);

  test('has monotonic luminance', () => {
    const direction = dark ? 1 : -1;
    for (let i = 1; i < steps.length; i++) {
      const step = luminance(color(steps[i])) - luminance(color(steps[i - 1]));
      expect(direction * step).toBeGreaterThanOrEqual(-0.012);
    }
    expect(
      direction * (luminance(color(1)) - luminance(color(0)))
    ).toBeGreaterThan(0.6);
  });

  test('has readable text at every step', () => {
    for (const position of steps) {
      expect(contrast(color(position), textColor(position))).toBeGreaterThan(
        4.5
      );
    }
  });
});

test('a kept range gives values the same colour in every scene', async () => {
  const view = createGraphView(tree, plainSizer(tree.model, tree));
  const closed = await view.collapseAll();
  const before = visibleEntities(closed);
  const look = { scale: 'linear', dark: false } as const;
  const first = computeOverlay(OVERLAYS.macs, closed, tree, {
    ...look,
    rangeOf: before
  });
  expect(first.range.isKept).toBe(false);
  const open = await view.expandAll(Infinity);
  const overlay = computeOverlay(OVERLAYS.macs, open, tree, {
    ...look,
    rangeOf: before
  });
  expect(overlay.range.isKept).toBe(true);
  expect(overlay.range.max).toBe(first.range.max);
  expect(overlay.overlay.value(2)).toBeCloseTo(2000 / first.range.max);
  const recomputed = computeOverlay(OVERLAYS.macs, open, tree, look);
  expect(recomputed.range.isKept).toBe(false);
  expect(recomputed.range.max).toBe(2000);
});
