/** Times of many devices for a model at its current sizes. Equal kernels are timed once. */

import type { HardwarePart } from '../../schema';
import {
  errorBandOf,
  hardwareOf,
  partOf,
  precisionOf,
  withErrorBand
} from './latencyEstimate';
import { requiredBytes, TensorBytes } from './deviceTensorBytes';
import {
  hostLaunchSeconds,
  KERNEL,
  kernelTime,
  ratesOf,
  type IKernelWorkload
} from './kernelTime';
import { KernelWorkloads } from './kernelWorkload';
import { TENSOR_KIND } from '../model/decodePayload';
import { cannotRun } from '../model/runnable';
import type { IGraphModel } from '../types';
import { ownValue } from '../base/ownValue';

/** What dominates the time; empty if nothing is known. */
export type Bound = 'compute' | 'memory' | 'overhead' | '';

/** Estimate for one device, without the times per node. */
export interface IDeviceTime {
  /** Index into the payload's devices. */
  readonly device: number;
  readonly precision: string;
  /** Sum of the known kernels; NaN when none is known. */
  readonly seconds: number;
  readonly low: number;
  readonly high: number;
  readonly ideal: number;
  readonly label: string;
  readonly bound: Bound;
  /** Kernels without a time. */
  readonly unknown: number;
  /** Bytes that the model needs; NaN if unknown. */
  readonly required: number;
}

interface IKernelGroup {
  readonly work: IKernelWorkload;
  /** True for a kind of kernel that was never compared with measured times. */
  readonly isGuess: boolean;
  count: number;
}

/** Data shared by all devices that compute at one width. */
interface IWidthData {
  readonly groups: readonly IKernelGroup[];
  readonly resident: number;
  readonly required: number;
}

export class DeviceTimes {
  private readonly _stored: HardwarePart | null;
  private readonly _runs: boolean;
  private readonly _widths = new Map<string, IWidthData>();

  constructor(
    private readonly _model: IGraphModel,
    private readonly _runtime = ''
  ) {
    this._stored = hardwareOf(_model.payload);
    this._runs = cannotRun(_model.payload) === '';
  }

  /**
   * The time on one device; null if it has no peak for the precision. An empty precision means as stored.
   */
  of(device: number, requested = ''): IDeviceTime | null {
    const hardware =
      this._stored && partOf(this._stored, device, this._runtime);
    const precision = hardware && precisionOf(hardware, device, requested);
    if (!hardware || !precision) {
      return null;
    }
    const width = this._width(
      hardware,
      ownValue(hardware.model.widths, precision) ?? Number.NaN
    );
    const rates = ratesOf(hardware, device, precision, width.resident);
    let [seconds, ideal, unknown, known, guessed, starts] = [0, 0, 0, 0, 0, 0];
    const shares = { compute: 0, memory: 0, overhead: 0 };
    for (const { work, isGuess, count } of width.groups) {
      const time = kernelTime(work, rates);
      if (Number.isNaN(time.seconds)) {
        unknown += count;
        continue;
      }
      known += count;
      starts += count * work.runs;
      seconds += count * time.seconds;
      ideal += count * time.ideal;
      guessed += isGuess ? count * time.seconds : 0;
      shares[boundOf(time)] += count * time.seconds;
    }
    if (starts * hostLaunchSeconds(rates) > seconds) {
      guessed *= (starts * hostLaunchSeconds(rates)) / seconds;
      seconds = starts * hostLaunchSeconds(rates);
      shares.overhead = seconds;
    }
    // Without a kernel that runs, the total is unknown, not 0.
    if (!this._runs || known === 0) {
      [seconds, ideal] = [Number.NaN, Number.NaN];
    }
    const uncompared = seconds > 0 ? guessed / seconds : 0;
    const band = errorBandOf(hardware, device, precision, uncompared);
    return {
      device,
      precision,
      unknown,
      required: width.required,
      ...withErrorBand(band, seconds, ideal),
      bound: seconds > 0 ? mostOf(shares) : ''
    };
  }

  /** The times of all devices, by index; null for a device without a peak for the precision. */
  all(requested = ''): (IDeviceTime | null)[] {
    const ids = this._stored?.devices.id ?? [];
    return ids.map((_, device) => this.of(device, requested));
  }

  private _width(hardware: HardwarePart, bytes: number): IWidthData {
    const key = `${hardware.runtime ?? ''} ${bytes}`;
    const before = this._widths.get(key);
    if (before) {
      return before;
    }
    const tensors = new TensorBytes(this._model, bytes);
    const work = new KernelWorkloads(this._model, hardware, tensors);
    const data: IWidthData = {
      groups: groupKernels(hardware, work),
      resident: work.resident(),
      required: requiredBytes(this._model, tensors)
    };
    this._widths.set(key, data);
    return data;
  }
}

/** Groups kernels with equal workloads and counts them. */
function groupKernels(
  hardware: HardwarePart,
  work: KernelWorkloads
): IKernelGroup[] {
  const kinds = new Map<string, IKernelGroup>();
  hardware.kernels.kind.forEach((kind, kernel) => {
    const workload = work.of(kernel);
    const isGuess = kind >= KERNEL.recurrent || work.isRouted(kernel);
    const { runs, flops, weights, activations, m, n, k, steps, inputs } =
      workload;
    const { byElement } = workload;
    const key = [
      kind,
      isGuess,
      runs,
      flops,
      weights,
      activations,
      m,
      n,
      k,
      steps,
      inputs,
      byElement
    ].join(' ');
    const group = kinds.get(key);
    if (group) {
      group.count++;
    } else {
      kinds.set(key, { work: workload, isGuess, count: 1 });
    }
  });
  return [...kinds.values()];
}

function boundOf(
  time: Pick<ReturnType<typeof kernelTime>, 'compute' | 'memory' | 'launch'>
): Exclude<Bound, ''> {
  const { compute, memory, launch } = time;
  return mostOf({ compute, memory, overhead: launch });
}

function mostOf(
  shares: Record<Exclude<Bound, ''>, number>
): Exclude<Bound, ''> {
  const { compute, memory, overhead } = shares;
  const longest = Math.max(compute, memory, overhead);
  return compute === longest
    ? 'compute'
    : memory === longest
      ? 'memory'
      : 'overhead';
}

/**
 * Items per inference: the dimension named batch, else the first dimension of the first input; NaN if
 * unknown.
 */
export function batchOf({ payload }: IGraphModel): number {
  const named = payload.dims.filter(({ name }) => /batch/i.test(name));
  if (named.length === 1) {
    return named[0].value ?? Number.NaN;
  }
  const { kind, shape } = payload.tensors;
  const data = (payload.graphs.inputs[0] ?? []).find(
    tensor => kind[tensor] === TENSOR_KIND.input
  );
  const first = data === undefined ? null : payload.shapes[shape[data]]?.[0];
  return typeof first === 'number' ? first : Number.NaN;
}
