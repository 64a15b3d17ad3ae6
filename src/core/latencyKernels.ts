/** One fused kernel on one device: the seconds of its arithmetic and of its bytes, and its start. */

import type { HardwarePart, LatencyModel } from '../schema';

/** `KernelColumns.kind`; what is below 0 cannot be estimated. */
export const KERNEL = {
  memory: 0,
  product: 1,
  convolution: 2,
  grouped: 3,
  depthwise: 4,
  batched: 5,
  attention: 6
} as const;

/** What a kernel has to do in one execution; NaN where it is unknown. */
export interface IWork {
  readonly kind: number;
  /** Executions in one inference. */
  readonly runs: number;
  readonly flops: number;
  readonly weights: number;
  readonly activations: number;
  /** m × n sums of k terms; of attention m is the number of blocks of queries. */
  readonly m: number;
  readonly n: number;
  readonly k: number;
}

/** What a device can do in one precision. */
export interface IRates {
  readonly model: LatencyModel;
  readonly cpu: boolean;
  /** FLOP/s; of products, of arithmetic element by element, of attention. */
  readonly peak: number;
  readonly vector: number;
  readonly attention: number;
  /** Share of them that is held under load. */
  readonly held: number;
  readonly bandwidth: number;
  /** 0 when unknown. */
  readonly units: number;
  /** Bytes a second of the cache, and how many bytes move at its speed. */
  readonly cacheRate: number;
  readonly cacheBytes: number;
}

export interface IKernelTime {
  readonly seconds: number;
  readonly compute: number;
  readonly memory: number;
  /** At full efficiency, without the start. */
  readonly ideal: number;
}

export function ratesOf(
  part: HardwarePart,
  device: number,
  precision: string
): IRates {
  const { devices, model } = part;
  const peakOf = (name: string): number => devices.peaks[name]?.[device] ?? 0;
  const peak = peakOf(precision);
  const bandwidth = devices.bandwidth_bytes_per_s[device];
  const units = devices.units[device] ?? 0;
  const clock = devices.clock_hz[device] ?? 0;
  const cached = units > 0 && clock > 0;
  const own = model.attention_precision[precision] ?? precision;
  return {
    model,
    cpu: devices.category[device] === 'cpu',
    peak,
    vector: peakOf('fp32') || peak,
    attention: peakOf(own) || peak,
    held: devices.sustained[device],
    bandwidth,
    units,
    cacheRate: cached
      ? Math.max(bandwidth, model.l2_bytes_per_clock * units * clock)
      : bandwidth,
    cacheBytes: cached ? model.l2_fraction * (devices.l2_bytes[device] ?? 0) : 0
  };
}

/** Share of the tiles' time that is work: the best tile. */
function utilisation({ m, n, k }: IWork, { model, units }: IRates): number {
  let best = model.utilisation_floor;
  for (const [rows, columns, own] of model.tiles) {
    const [down, across] = [Math.ceil(m / rows), Math.ceil(n / columns)];
    let tiles = down * across;
    let depth = k;
    let share = (own * (m * n)) / (down * rows * across * columns);
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
    best = Math.max(best, (share * depth) / (depth + model.gemm_k0));
  }
  return best;
}

/** Share of the peak that a kernel reaches. */
function shareOf(work: IWork, rates: IRates): number {
  const { model, units } = rates;
  const { kind, m, n, k, flops } = work;
  if (rates.cpu) {
    const isConvolution =
      kind >= KERNEL.convolution && kind <= KERNEL.depthwise;
    return isConvolution ? model.cpu_conv_e : model.cpu_gemm_e;
  }
  switch (kind) {
    case KERNEL.depthwise:
      return model.depthwise_e;
    case KERNEL.batched:
      return model.batched_e;
    case KERNEL.attention: {
      const busy = units > 0 ? Math.min(1, m / units) : 1;
      return model.attention_e * Math.max(busy, model.utilisation_floor);
    }
  }
  if (flops === 0 || k === 0) {
    return model.gemm_e;
  }
  if (kind === KERNEL.grouped) {
    const padded = Math.ceil(n / model.grouped_step) * model.grouped_step;
    const share = model.grouped_e * (n / padded) * (k / (k + model.grouped_k0));
    return Math.max(share, model.utilisation_floor);
  }
  const share = model.gemm_e * utilisation(work, rates);
  return Math.max(share, model.utilisation_floor);
}

function peakOf({ kind }: IWork, rates: IRates): number {
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

/** Seconds to move the bytes at full speed: the activations of a small kernel stay in the cache. */
function movedIn({ weights, activations }: IWork, rates: IRates): number {
  const { bandwidth, cacheBytes, cacheRate, cpu } = rates;
  const rate = !cpu && activations <= cacheBytes ? cacheRate : bandwidth;
  return weights / bandwidth + activations / rate;
}

/** Seconds of a kernel over all its executions; NaN where a number that they need is unknown. */
export function kernelTime(work: IWork, rates: IRates): IKernelTime {
  const { model, cpu, held } = rates;
  const { kind, runs, flops, m, n, k } = work;
  const top = peakOf(work, rates);
  // An unknown size makes the share unknown, whatever would be the floor of it.
  const known = kind === KERNEL.memory || !Number.isNaN(flops + m + n + k);
  const reached = known
    ? top * Math.min(1, held * shareOf(work, rates))
    : Number.NaN;
  const compute = kind === KERNEL.memory ? 0 : flops / reached;
  const bytes = movedIn(work, rates);
  const memory = bytes / (cpu ? model.cpu_memory_e : model.memory_e);
  const start = cpu ? model.cpu_overhead_s : model.overhead_s;
  return {
    seconds: runs * (Math.max(compute, memory) + start),
    compute: runs * compute,
    memory: runs * memory,
    ideal: runs * Math.max(kind === KERNEL.memory ? 0 : flops / top, bytes)
  };
}
