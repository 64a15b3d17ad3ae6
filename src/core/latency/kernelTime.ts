/** Time of one fused kernel on one device: arithmetic, data movement and launch. */

import type { HardwarePart, LatencyModel } from '../../schema';
import { ownValue } from '../base/ownValue';

/** Values of `KernelColumns.kind`; negative kinds cannot be estimated. */
export const KERNEL = {
  memory: 0,
  product: 1,
  convolution: 2,
  grouped: 3,
  depthwise: 4,
  batched: 5,
  attention: 6,
  recurrent: 7,
  experts: 8
} as const;

/** Work of a kernel in one execution; NaN where unknown. */
export interface IKernelWorkload {
  readonly kind: number;
  /** Executions per inference. */
  readonly runs: number;
  readonly flops: number;
  readonly weights: number;
  readonly activations: number;
  /**
   * m × n sums of k terms. For attention, m is the number of query blocks; for a mixture of experts, the
   * rows of each expert; for a recurrent layer, they apply to each step.
   */
  readonly m: number;
  readonly n: number;
  readonly k: number;
  /**
   * Recurrent layers only: the number of steps, and the number of terms of the sums over their inputs.
   */
  readonly steps?: number;
  readonly inputs?: number;
  /** Seconds that CPUs need in addition for what they compute element by element. */
  readonly byElement?: number;
}

/** Rates of a device in one precision. */
export interface IDeviceRates {
  readonly model: LatencyModel;
  readonly cpu: boolean;
  /**
   * Measured on a CPU: share of the peak for products, convolutions and depthwise convolutions, share of
   * the bandwidth, seconds per launch.
   */
  readonly measured: readonly number[] | null;
  /** FLOP/s of matrix products, of element-wise arithmetic, of attention. */
  readonly peak: number;
  readonly vector: number;
  readonly attention: number;
  /** Share of them that is sustained under load. */
  readonly sustained: number;
  readonly bandwidth: number;
  /** 0 when unknown. */
  readonly units: number;
  /** Bandwidth of the cache in bytes per second, and the number of bytes that move at that speed. */
  readonly cacheRate: number;
  readonly cacheBytes: number;
  /** Bandwidth of weights in bytes per second: that of the cache if it keeps them between runs. */
  readonly weightRate: number;
  /** Share of the loss at the ends of a sum that applies. */
  readonly loss: number;
  /** Seconds to launch a kernel. */
  readonly launch: number;
}

export interface IKernelTime {
  readonly seconds: number;
  readonly compute: number;
  readonly memory: number;
  /** For all its launches. */
  readonly launch: number;
  /** At full efficiency, without the launch. */
  readonly ideal: number;
}

/**
 * The rates of a device. `resident` is the size of all weights of a model and the largest working set of
 * a kernel, in bytes; if it fits into the cache, it stays there.
 */
export function ratesOf(
  hardware: HardwarePart,
  device: number,
  precision: string,
  resident = Number.NaN
): IDeviceRates {
  const { devices, model } = hardware;
  const peakOf = (name: string): number =>
    ownValue(devices.peaks, name)?.[device] ?? 0;
  const peak = peakOf(precision);
  const bandwidth = devices.bandwidth_bytes_per_s[device];
  const units = devices.units[device] ?? 0;
  const clock = devices.clock_hz[device] ?? 0;
  const cached = units > 0 && clock > 0;
  const attentionPrecision =
    ownValue(model.attention_precision, precision) ?? precision;
  const cpu = devices.category[device] === 'cpu';
  // Payloads of earlier versions lack it.
  const rates = devices.measured as typeof devices.measured | undefined;
  const measured = (cpu && rates?.[String(device)]) || null;
  const cacheRate = cached
    ? Math.max(bandwidth, model.l2_bytes_per_clock * units * clock)
    : bandwidth;
  // For products that do not run on tensor cores, the measured rate does not hold; the loss at the ends
  // of a sum is a time, so its share shrinks in proportion.
  const tensor = Math.max(peakOf('fp16'), peakOf('bf16'));
  const slower = precision === 'fp32' && !cpu && peak < tensor;
  const stays = !cpu && resident <= (devices.l2_bytes[device] ?? 0);
  return {
    model,
    cpu,
    measured,
    peak,
    vector: peakOf('fp32') || peak,
    attention: peakOf(attentionPrecision) || peak,
    sustained:
      slower && devices.band[device] === 0 ? 1 : devices.sustained[device],
    loss: slower ? peak / tensor : 1,
    bandwidth,
    units,
    cacheRate,
    cacheBytes: cached
      ? model.l2_fraction * (devices.l2_bytes[device] ?? 0)
      : 0,
    weightRate: stays ? cacheRate : bandwidth,
    launch: cpu
      ? (measured?.[4] ?? model.cpu_overhead_s)
      : clock > 0
        ? model.overhead_cycles / clock
        : model.overhead_s
  };
}

/** Seconds that the host takes to launch a kernel while the device runs others. */
export function hostLaunchSeconds({ model, cpu }: IDeviceRates): number {
  // Payloads of earlier versions lack it.
  return cpu ? 0 : ((model.issue_s as number | undefined) ?? 0);
}

/** Share of the tiles' time that is useful work, for the best tile. */
function utilisation(
  { m, n, k }: Pick<IKernelWorkload, 'm' | 'n' | 'k'>,
  { model, units, loss }: IDeviceRates
): number {
  let best = model.utilisation_floor;
  for (const [rows, columns, tilePrecision] of model.tiles) {
    const [down, across] = [Math.ceil(m / rows), Math.ceil(n / columns)];
    let tiles = down * across;
    let depth = k;
    let share = (tilePrecision * (m * n)) / (down * rows * across * columns);
    if (units > 0) {
      const split =
        tiles < units
          ? Math.min(
              Math.floor(units / tiles),
              Math.floor(k / model.split_k_min),
              model.split_k_max
            )
          : 1;
      if (split > 1) {
        tiles *= split;
        depth /= split;
      }
      share *= tiles / (Math.ceil(tiles / units) * units);
    }
    best = Math.max(best, (share * depth) / (depth + model.gemm_k0 * loss));
  }
  return best;
}

/** Share of the peak that a kernel reaches. */
function shareOf(work: IKernelWorkload, rates: IDeviceRates): number {
  const { model, units } = rates;
  const { kind, m, n, k, flops } = work;
  if (rates.cpu) {
    const isConvolution =
      kind >= KERNEL.convolution && kind <= KERNEL.depthwise;
    const modelIndex = kind === KERNEL.depthwise ? 2 : isConvolution ? 1 : 0;
    return (
      rates.measured?.[modelIndex] ??
      (isConvolution ? model.cpu_conv_e : model.cpu_gemm_e)
    );
  }
  switch (kind) {
    case KERNEL.depthwise:
      return model.depthwise_e;
    case KERNEL.batched:
      return model.batched_e;
    case KERNEL.attention: {
      const utilization = units > 0 ? Math.min(1, m / units) : 1;
      return model.attention_e * Math.max(utilization, model.utilisation_floor);
    }
    case KERNEL.experts: {
      // Rows are padded to whole tiles.
      const padded = Math.ceil(m / model.experts_rows) * model.experts_rows;
      const share = m === 0 ? 1 : m / padded;
      return Math.max(model.batched_e * share, model.utilisation_floor);
    }
  }
  if (flops === 0 || k === 0) {
    return model.gemm_e;
  }
  if (kind === KERNEL.grouped) {
    const padded = Math.ceil(n / model.grouped_step) * model.grouped_step;
    const share =
      model.grouped_e *
      (n / padded) *
      (k / (k + model.grouped_k0 * rates.loss));
    return Math.max(share, model.utilisation_floor);
  }
  const share = model.gemm_e * utilisation(work, rates);
  return Math.max(share, model.utilisation_floor);
}

function peakOf({ kind }: IKernelWorkload, rates: IDeviceRates): number {
  if (rates.cpu) {
    return rates.peak;
  }
  switch (kind) {
    case KERNEL.depthwise:
      return rates.vector;
    case KERNEL.attention:
      return rates.attention;
    default:
      return rates.peak;
  }
}

/** Seconds to move the bytes at full speed; the activations of a small kernel stay in the cache. */
function transferSeconds(
  { weights, activations }: IKernelWorkload,
  rates: IDeviceRates
): number {
  const { bandwidth, cacheBytes, cacheRate, cpu, weightRate } = rates;
  const rate = !cpu && activations <= cacheBytes ? cacheRate : bandwidth;
  return weights / weightRate + activations / rate;
}

/** Share of the bandwidth that is reached in practice. */
function memoryShareOf({ model, cpu, measured }: IDeviceRates): number {
  return cpu ? (measured?.[3] ?? model.cpu_memory_e) : model.memory_e;
}

/** FLOP/s of an m × n product over k. */
function productRate(
  sizes: Pick<IKernelWorkload, 'm' | 'n' | 'k'>,
  rates: IDeviceRates
): number {
  const { model, cpu, sustained, peak } = rates;
  const { m, n, k } = sizes;
  if (Number.isNaN(m + n + k)) {
    return Number.NaN;
  }
  let share = rates.measured?.[0] ?? model.cpu_gemm_e;
  if (!cpu) {
    const tiles = m && n && k ? utilisation(sizes, rates) : 1;
    share = Math.max(model.gemm_e * tiles, model.utilisation_floor);
  }
  return peak * Math.min(1, sustained * share);
}

/** A recurrent layer: one product for the inputs of all steps, then one step after another. */
function recurrentTime(
  work: IKernelWorkload,
  rates: IDeviceRates
): IKernelTime {
  const { model, cpu, peak, bandwidth, cacheRate, cacheBytes } = rates;
  const { runs, flops, weights, activations, m, n, k } = work;
  const [steps, inputs] = [work.steps ?? Number.NaN, work.inputs ?? Number.NaN];
  const memoryShare = memoryShareOf(rates);
  const ofState = k / (inputs + k);
  const state = weights * ofState;
  const inputRate = productRate({ m: steps * m, n, k: inputs }, rates);
  // The weights of the state are read in each step.
  const reread =
    (steps * state) / (!cpu && state <= cacheBytes ? cacheRate : bandwidth);
  const phases = [
    [
      (flops * (1 - ofState)) / inputRate,
      transferSeconds({ ...work, weights: weights - state }, rates) /
        memoryShare
    ],
    [(flops * ofState) / productRate({ m, n, k }, rates), reread / memoryShare]
  ];
  const sum = (of: (phase: number[]) => number): number =>
    runs * phases.reduce((total, phase) => total + of(phase), 0);
  const starts = cpu ? 1 : 1 + model.recurrent_kernels * steps;
  return {
    seconds: sum(phase => Math.max(...phase)) + runs * starts * rates.launch,
    compute: sum(phase => phase[0]),
    memory: sum(phase => phase[1]),
    launch: runs * starts * rates.launch,
    ideal:
      runs *
      Math.max(
        flops / peak,
        transferSeconds({ ...work, weights, activations }, rates)
      )
  };
}

/** Seconds of a kernel over all its executions; NaN if a number that they need is unknown. */
export function kernelTime(
  work: IKernelWorkload,
  rates: IDeviceRates
): IKernelTime {
  const { model, cpu, sustained } = rates;
  const { kind, runs, flops, m, n, k } = work;
  if (kind === KERNEL.recurrent) {
    return recurrentTime(work, rates);
  }
  const top = peakOf(work, rates);
  // An unknown size gives NaN, even where shareOf() has a lower limit.
  const isKnown = kind === KERNEL.memory || !Number.isNaN(flops + m + n + k);
  const achieved = isKnown
    ? top * Math.min(1, sustained * shareOf(work, rates))
    : Number.NaN;
  const byElement = cpu ? (work.byElement ?? 0) : 0;
  const compute = (kind === KERNEL.memory ? 0 : flops / achieved) + byElement;
  const bytes = transferSeconds(work, rates);
  const memory = bytes / memoryShareOf(rates);
  const starts = kind === KERNEL.experts && !cpu ? model.experts_kernels : 1;
  return {
    seconds: runs * (Math.max(compute, memory) + starts * rates.launch),
    compute: runs * compute,
    memory: runs * memory,
    launch: runs * starts * rates.launch,
    ideal: runs * Math.max(kind === KERNEL.memory ? 0 : flops / top, bytes)
  };
}
