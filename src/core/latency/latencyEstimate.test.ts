/** The viewer and the library give the same times for the same cases. */

import { describe, expect, it } from 'vitest';
import CASES from '../../../tests/data/latency_cases.json?raw';
import type { GraphPayload, HardwarePart } from '../../schema';
import {
  chosenDevice,
  deviceOf,
  hardwareOf,
  latencyOf,
  precisionOf,
  precisionsOf,
  usableDeviceBytes,
  withLatency
} from './latencyEstimate';
import { decodePayload } from '../model/decodePayload';
import { buildTree } from '../tree/groupTree';
import type { IGraphModel } from '../types';

interface ILatencyCase {
  readonly payload: string;
  readonly device: string;
  readonly precision: string;
  readonly runtime?: string;
  /** Id of the runtime if none is requested. */
  readonly usual?: string;
  readonly seconds: number | null;
  readonly low?: number | null;
  readonly high?: number | null;
  readonly ideal?: number | null;
  readonly label?: string;
  readonly unknown?: number;
  readonly required?: number | null;
  readonly kernels?: readonly (number | null)[];
}

const fixture = JSON.parse(CASES) as {
  readonly devices: HardwarePart['devices'];
  readonly model: HardwarePart['model'];
  readonly payloads: Record<string, GraphPayload>;
  readonly cases: readonly ILatencyCase[];
};

/** The fixture holds devices and constants once for all payloads. */
function modelOf(payload: GraphPayload): IGraphModel {
  const { devices, model } = fixture;
  const hardware = { ...payload.hardware!, devices, model };
  return decodePayload({ ...payload, hardware });
}

const models = new Map(
  Object.entries(fixture.payloads).map(([name, payload]) => [
    name,
    modelOf(payload)
  ])
);

const expectSame = (
  actual: number,
  expected: number | null | undefined
): void => {
  if (expected === null || expected === undefined) {
    expect(actual).toBeNaN();
  } else {
    expect(Math.abs(actual - expected)).toBeLessThanOrEqual(1e-12 * expected);
  }
};

describe('the shared fixture', () => {
  it('covers every kind of kernel, unknown ones, repeats and devices without a peak rate', () => {
    const kinds = [...models.values()].flatMap(
      ({ payload }) => payload.hardware!.kernels.kind
    );
    expect([...new Set(kinds)].sort((a, b) => a - b)).toEqual([
      -1, 0, 1, 2, 3, 4, 5, 6, 7, 8
    ]);
    const { cases } = fixture;
    expect(
      cases.some(testCase => testCase.seconds === null && !testCase.kernels)
    ).toBe(true);
    expect(cases.some(testCase => (testCase.unknown ?? 0) > 0)).toBe(true);
    expect(cases.length).toBeGreaterThan(500);
  });

  it.each([...models.keys()])('%s', name => {
    const model = models.get(name)!;
    const testCases = fixture.cases.filter(
      testCase => testCase.payload === name
    );
    expect(testCases.length).toBeGreaterThan(10);
    for (const testCase of testCases) {
      const { device, precision, runtime } = testCase;
      const latency = latencyOf(model, { device, precision, runtime });
      expect(latency?.part.runtime ?? runtime).toBe(runtime ?? testCase.usual);
      if (!testCase.kernels) {
        expect(latency, `${device} ${precision}`).toBeNull();
        continue;
      }
      expect(latency, `${device} ${precision}`).not.toBeNull();
      testCase.kernels.forEach((seconds, kernel) =>
        expectSame(latency!.kernels[kernel], seconds)
      );
      expectSame(latency!.seconds, testCase.seconds);
      expectSame(latency!.low, testCase.low);
      expectSame(latency!.high, testCase.high);
      expectSame(latency!.ideal, testCase.ideal);
      if (testCase.required !== undefined) {
        expectSame(latency!.required, testCase.required);
      }
      expect(latency!.label).toBe(testCase.label);
      expect(latency!.unknown).toBe(testCase.unknown);
    }
  });
});

describe('times per node', () => {
  const device = { device: 'a100-sxm4-40gb', precision: 'fp16' };

  it.each([...models.keys()])('%s: sum to the total', name => {
    const model = withLatency(models.get(name)!, device);
    const { nodes, unknown, seconds } = model.latency!;
    const knownTimes = nodes.filter(value => !Number.isNaN(value));
    expect(nodes.length - knownTimes.length).toBe(unknown);
    const sum = knownTimes.reduce((a, b) => a + b, 0);
    if (Number.isNaN(seconds)) {
      expect(sum).toBe(0);
    } else {
      expect(Math.abs(sum - seconds)).toBeLessThan(1e-12 * seconds);
    }
    // Blocks show the sum of their nodes.
    const tree = buildTree(model);
    const top = Array.from(tree.children[0], entity =>
      entity < model.nodeCount
        ? model.metrics.latency[entity]
        : tree.groupMetrics.latency[entity - model.nodeCount]
    ).filter(value => !Number.isNaN(value));
    const total = top.reduce((a, b) => a + b, 0);
    expect(Math.abs(total - sum)).toBeLessThanOrEqual(1e-12 * sum);
  });

  it('assign a kernel to its anchor node and 0 to its other nodes', () => {
    const model = withLatency(models.get('transformer')!, device);
    const { kernels } = model.payload.hardware!;
    kernels.node.forEach((kernel, node) => {
      const expected =
        kernel >= 0 && kernels.anchor[kernel] === node
          ? model.latency!.kernels[kernel]
          : 0;
      expect(model.metrics.latency[node]).toBe(expected);
    });
  });
});

describe('the chosen device and precision', () => {
  const model = models.get('transformer')!;
  const hardware = hardwareOf(model.payload)!;

  it('gives no times without a device', () => {
    const without = withLatency(model, null);
    expect(without.latency).toBeNull();
    expect([...without.metrics.latency].every(Number.isNaN)).toBe(true);
    expect(latencyOf(model, { device: 'gone', precision: '' })).toBeNull();
  });

  it('gives no estimate for a payload without hardware data', () => {
    const { hardware: _, ...old } = model.payload;
    const before = decodePayload(old as GraphPayload);
    expect(hardwareOf(before.payload)).toBeNull();
    const choice = { device: 'a100-sxm4-40gb', precision: '' };
    expect(latencyOf(before, choice)).toBeNull();
    expect(chosenDevice(before.payload)).toBeNull();
  });

  it('gives the usable memory; unknown if the memory is not published', () => {
    const devices = {
      ...hardware.devices,
      memory_bytes: [100, 100, null],
      usable_memory_fraction: [0.5, null, 0.5]
    };
    const [halfKnown, known, unknown] = [0, 1, 2].map(device =>
      usableDeviceBytes({ ...hardware, devices }, device)
    );
    expect([halfKnown, known]).toEqual([50, 100]);
    expect(unknown).toBeNaN();
  });

  it('offers precisions with a peak rate and prefers the stored one', () => {
    const t4 = deviceOf(hardware, 't4');
    expect(precisionsOf(hardware, t4)).not.toContain('bf16');
    expect(precisionOf(hardware, t4, 'bf16')).toBeNull();
    expect(precisionOf(hardware, t4, '')).toBe('fp32');
    expect(precisionOf({ ...hardware, stored: [] }, t4, '')).toBeNull();
    expect(deviceOf(hardware, '')).toBe(-1);
  });

  it('defaults to the choice of the analysis', () => {
    const payload = {
      ...model.payload,
      hardware: { ...hardware, chosen: 't4', precision: 'fp16' }
    };
    expect(chosenDevice(payload)).toEqual({ device: 't4', precision: 'fp16' });
    payload.hardware.chosen = 'gone';
    expect(chosenDevice(payload)).toBeNull();
  });
});
