/** The device table agrees with the estimate for a single device, and with the library. */

import { describe, expect, it } from 'vitest';
import CASES from '../../../tests/data/latency_cases.json?raw';
import type { GraphPayload, HardwarePart } from '../../schema';
import { batchOf, DeviceTimes } from './deviceTimes';
import { latencyOf } from './latencyEstimate';
import { decodePayload } from '../model/decodePayload';
import type { IGraphModel } from '../types';

interface IDeviceTimeCase {
  readonly payload: string;
  readonly device: string;
  readonly precision: string;
  readonly runtime?: string;
  readonly seconds: number | null;
  readonly low?: number | null;
  readonly high?: number | null;
  readonly ideal?: number | null;
  readonly label?: string;
  readonly bottleneck?: string;
  readonly unknown?: number;
  readonly required?: number | null;
  readonly kernels?: readonly (number | null)[];
}

const { devices, model, payloads, cases } = JSON.parse(CASES) as {
  readonly devices: HardwarePart['devices'];
  readonly model: HardwarePart['model'];
  readonly payloads: Record<string, GraphPayload>;
  readonly cases: readonly IDeviceTimeCase[];
};

const modelOf = (payload: GraphPayload): IGraphModel =>
  decodePayload({
    ...payload,
    hardware: { ...payload.hardware!, devices, model }
  });

const BOUNDS: Readonly<Record<string, string>> = {
  compute: 'compute',
  memory: 'memory_bandwidth',
  overhead: 'kernel_overhead',
  '': ''
};

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

describe('times of all devices', () => {
  it.each(Object.keys(payloads))('%s: equal those of the library', name => {
    const model = modelOf(payloads[name]);
    for (const testCase of cases.filter(({ payload }) => payload === name)) {
      const times = new DeviceTimes(model, testCase.runtime);
      const actual = times.of(
        devices.id.indexOf(testCase.device),
        testCase.precision
      );
      if (!testCase.kernels) {
        expect(actual).toBeNull();
        continue;
      }
      expectSame(actual!.seconds, testCase.seconds);
      expectSame(actual!.low, testCase.low);
      expectSame(actual!.high, testCase.high);
      expectSame(actual!.ideal, testCase.ideal);
      if (testCase.required !== undefined) {
        expectSame(actual!.required, testCase.required);
      }
      expect(actual!.label).toBe(testCase.label);
      expect(actual!.unknown).toBe(testCase.unknown);
      expect(BOUNDS[actual!.bound]).toBe(testCase.bottleneck);
    }
  });

  it('equal the estimate for a single device at the stored precision', () => {
    const convnet = modelOf(payloads['convnet']);
    const times = new DeviceTimes(convnet).all();
    expect(times).toHaveLength(devices.id.length);
    devices.id.forEach((device, index) => {
      const single = latencyOf(convnet, { device, precision: '' });
      expect(times[index]?.precision).toBe(single?.precision);
      expectSame(times[index]?.seconds ?? Number.NaN, single?.seconds);
    });
  });

  it('are empty without hardware data and NaN for a model that cannot run', () => {
    const { hardware: _, ...old } = payloads['convnet'];
    expect(new DeviceTimes(decodePayload(old as GraphPayload)).all()).toEqual(
      []
    );
    const broken = {
      ...payloads['convnet'],
      runnable: { verdict: 'no', reason: 'x', node: null, sizes: true }
    } as GraphPayload;
    const [first] = new DeviceTimes(modelOf(broken)).all();
    expect(first!.seconds).toBeNaN();
    expect(first!.bound).not.toBe(undefined);
  });
});

describe('items per inference', () => {
  const payload = payloads['transformer-free'];
  const dim = (name: string, value: number | null): GraphPayload['dims'][0] =>
    ({ name, value }) as GraphPayload['dims'][0];

  it('come from the dimension named batch, else from the first input', () => {
    const batch = (dims: GraphPayload['dims']): number =>
      batchOf(modelOf({ ...payload, dims }));
    expect(batch([dim('Batch_size', 7), dim('seq', 9)])).toBe(7);
    expect(batch([dim('batch', null)])).toBeNaN();
    expect(batch([dim('batch', 1), dim('batch_2', 3)])).toBeNaN();
    expect(batchOf(modelOf(payloads['convnet-large']))).toBe(128);
  });
});
