/**
 * Kernels of a model in the roofline plot of a device, as in the library's `report/builders/roofline.py`.
 */

import type { Bound } from './deviceTimes';
import {
  deviceOf,
  hardwareOf,
  latencyOf,
  partOf,
  precisionOf
} from './latencyEstimate';
import { TensorBytes } from './deviceTensorBytes';
import { kernelTime, ratesOf } from './kernelTime';
import { KernelWorkloads } from './kernelWorkload';
import { cannotRun } from '../model/runnable';
import type { IGraphModel, IDeviceChoice } from '../types';
import { ownValue } from '../base/ownValue';

/** A kernel with arithmetic; values are for one inference. */
export interface IRoofPoint {
  readonly kernel: number;
  /** The node that is assigned its time. */
  readonly node: number;
  readonly flops: number;
  /** Bytes read from and written to memory. */
  readonly bytes: number;
  readonly seconds: number;
  readonly bound: Exclude<Bound, ''>;
  /** FLOPs per byte. */
  readonly intensity: number;
  /** Estimated FLOP/s. */
  readonly rate: number;
}

export interface IRoofline {
  readonly device: number;
  readonly precision: string;
  /** FLOP/s. */
  readonly peak: number;
  /** Bytes per second. */
  readonly bandwidth: number;
  /** Slowest kernel first. */
  readonly points: readonly IRoofPoint[];
  /** Kernels that only move bytes. */
  readonly moving: number;
  /** Kernels without a time. */
  readonly unknown: number;
}

/** Null without a device, if it has no peak for the precision, or if the model cannot run. */
export function rooflineOf(
  model: IGraphModel,
  choice: IDeviceChoice | null
): IRoofline | null {
  const stored = hardwareOf(model.payload);
  const device = stored && choice ? deviceOf(stored, choice.device) : -1;
  const hardware = stored && partOf(stored, device, choice?.runtime);
  const precision =
    hardware && device >= 0
      ? precisionOf(hardware, device, choice!.precision)
      : null;
  if (!hardware || !precision || cannotRun(model.payload) !== '') {
    return null;
  }
  const bytes = new TensorBytes(
    model,
    ownValue(hardware.model.widths, precision) ?? Number.NaN
  );
  const work = new KernelWorkloads(model, hardware, bytes);
  const rates = ratesOf(hardware, device, precision, work.resident());
  const latency = latencyOf(model, choice);
  const points: IRoofPoint[] = [];
  let [moving, unknown] = [0, 0];
  hardware.kernels.kind.forEach((_, kernel) => {
    const workload = work.of(kernel);
    const time = kernelTime(workload, rates);
    // If the host is slower than the device, each kernel takes as long as its launch.
    const seconds = latency?.kernels[kernel] ?? Number.NaN;
    const flops = workload.runs * workload.flops;
    const bytes = workload.runs * (workload.weights + workload.activations);
    if (Number.isNaN(seconds + bytes)) {
      unknown += 1;
    } else if (!(flops > 0 && bytes > 0 && seconds > 0)) {
      moving += 1;
    } else {
      const { compute, memory, launch } = time;
      const waits = seconds > time.seconds;
      const bound = compute >= memory ? 'compute' : 'memory';
      points.push({
        kernel,
        flops,
        seconds,
        bytes,
        node: hardware.kernels.anchor[kernel],
        bound: waits || launch > Math.max(compute, memory) ? 'overhead' : bound,
        intensity: flops / bytes,
        rate: flops / seconds
      });
    }
  });
  points.sort((a, b) => b.seconds - a.seconds || a.kernel - b.kernel);
  return {
    device,
    precision,
    points,
    moving,
    unknown,
    peak: rates.peak,
    bandwidth: rates.bandwidth
  };
}
