/**
 * Points of the roofline: the same kernels, seconds and bytes as in the library, and what is not a point.
 */

import { describe, expect, it } from 'vitest';
import CASES from '../../../tests/data/latency_cases.json?raw';
import type { GraphPayload, HardwarePart } from '../../schema';
import { latencyOf } from './latencyEstimate';
import { decodePayload } from '../model/decodePayload';
import { rooflineOf } from './roofline';

interface IRooflineCase {
  readonly payload: string;
  readonly device: string;
  readonly precision: string;
  readonly kernels?: readonly (number | null)[];
}

const { devices, model, payloads, cases } = JSON.parse(CASES) as {
  readonly devices: HardwarePart['devices'];
  readonly model: HardwarePart['model'];
  readonly payloads: Record<string, GraphPayload>;
  readonly cases: readonly IRooflineCase[];
};

describe('roofline', () => {
  it.each(Object.keys(payloads))('%s: has a point per kernel', name => {
    const payload = payloads[name];
    const graph = decodePayload({
      ...payload,
      hardware: { ...payload.hardware!, devices, model }
    });
    for (const { device, precision, kernels } of cases.filter(
      testCase => testCase.payload === name
    )) {
      const choice = { device, precision };
      const roofline = rooflineOf(graph, choice);
      const latency = latencyOf(graph, choice);
      if (!kernels || !roofline || !latency) {
        expect(roofline === null || Boolean(kernels)).toBe(true);
        continue;
      }
      const index = devices.id.indexOf(device);
      expect(roofline.peak).toBe(
        devices.peaks[precision || roofline.precision][index]
      );
      expect(roofline.bandwidth).toBe(devices.bandwidth_bytes_per_s[index]);
      for (const point of roofline.points) {
        expect(point.seconds).toBe(latency.kernels[point.kernel]);
        expect(point.rate).toBeCloseTo(point.flops / point.seconds, 0);
        expect(point.intensity).toBe(point.flops / point.bytes);
        expect(point.node).toBe(latency.part.kernels.anchor[point.kernel]);
      }
      const times = roofline.points.map(({ seconds }) => seconds);
      expect(times).toEqual([...times].sort((a, b) => b - a));
      const kernelCount =
        roofline.points.length + roofline.moving + roofline.unknown;
      expect(kernelCount).toBe(latency.part.kernels.kind.length);
    }
  });

  it('uses the launch times of a host slower than the device', () => {
    const [name, payload] = Object.entries(payloads)[0];
    const testCase = cases.find(
      ({ payload: of, device, kernels }) =>
        of === name && kernels && device === 'a100-sxm4-40gb'
    )!;
    const slow = { ...model, issue_s: 1 };
    const graph = decodePayload({
      ...payload,
      hardware: { ...payload.hardware!, devices, model: slow }
    });
    const { device, precision } = testCase;
    const roofline = rooflineOf(graph, { device, precision })!;
    expect(roofline.points.length).toBeGreaterThan(0);
    for (const { seconds, bound } of roofline.points) {
      expect(seconds).toBeGreaterThanOrEqual(1);
      expect(bound).toBe('overhead');
    }
  });

  it('is null without a device', () => {
    const payload = Object.values(payloads)[0];
    const graph = decodePayload({
      ...payload,
      hardware: { ...payload.hardware!, devices, model }
    });
    expect(rooflineOf(graph, null)).toBeNull();
    expect(rooflineOf(graph, { device: 'none', precision: '' })).toBeNull();
  });
});
