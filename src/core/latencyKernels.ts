/** One fused kernel on one device: its arithmetic, its bytes, and the seconds they take. */

import type { HardwarePart, LatencyModel } from '../schema';

/** `KernelColumns.kind`. */
export const KERNEL = {
  unknown: -1,
  memory: 0,
  product: 1,
  convolution: 2,
  grouped: 3,
  depthwise: 4,
  batched: 5,
  attention: 6
} as const;

/** What a kernel has to do. */
export interface IWork {
  readonly kind: number;
  /** How often it runs; its numbers are those of one run. */
  readonly runs: number;
  readonly flops: number;
  readonly weights: number;
  readonly activations: number;
  /** batch × m × n sums of k terms. */
  readonly batch: number;
  readonly m: number;
  readonly n: number;
  readonly k: number;
}

/** What a device can do, in one precision. */
export interface IRates {
  readonly model: LatencyModel;
  readonly cpu: boolean;
  /** Operations a second that are held under load. */
  readonly peak: number;
  readonly vector: number;
  readonly attention: number;
  readonly bandwidth: number;
  readonly units: number | null;
  /** Bytes a second of the cache, and how many bytes move at its speed. */
  readonly cacheRate: number;
  readonly cacheBytes: number;
}

export function ratesOf(
  part: HardwarePart,
  device: number,
  precision: string
): IRates {
  const { devices, model } = part;
  const sustained = devices.sustained[device] ?? 1;
  const peak = (name: string): number =>
    (devices.peaks[name]?.[device] ?? Number.NaN) * sustained;
  const units = devices.units[device] ?? null;
  const clock = devices.clock_hz[device] ?? null;
  const cache = devices.l2_bytes[device] ?? null;
  const cached = units !== null && clock !== null && cache !== null;
  return {
    model,
    cpu: devices.category[device] === 'cpu',
    peak: peak(precision),
    vector: peak('fp32'),
    attention: peak(model.attention_precision[precision] ?? precision),
    bandwidth: devices.bandwidth_bytes_per_s[device],
    units,
    cacheRate: cached ? model.l2_bytes_per_clock * units * clock : 0,
    cacheBytes: cached ? model.l2_fraction * cache : 0
  };
}

/** Share of the peak that the best tiling of a product reaches. */
export function utilisation(
  { batch, m, n, k }: Pick<IWork, 'batch' | 'm' | 'n' | 'k'>,
  units: number | null,
  model: LatencyModel
): number {
  let best = model.utilisation_floor;
  for (const [rows, columns, share] of model.tiles) {
    const [down, across] = [Math.ceil(m / rows), Math.ceil(n / columns)];
    const padding = (m * n) / (down * rows * across * columns);
    let tiles = down * across * batch;
    let terms = k;
    let wave = 1;
    if (units !== null) {
      if (tiles < units) {
        const parts = Math.max(
          1,
          Math.min(
            Math.floor(units / tiles),
            Math.floor(k / model.split_k_min),
            model.split_k_max
          )
        );
        tiles *= parts;
        terms = k / parts;
      }
      wave = tiles / (Math.ceil(tiles / units) * units);
    }
    const depth = terms / (terms + model.gemm_k0);
    best = Math.max(best, share * padding * wave * depth);
  }
  return best;
}

/** Operations a second that the kernel's arithmetic reaches; without efficiencies the peak itself. */
function rateOf(
  work: IWork,
  rates: IRates
): { readonly real: number; readonly ideal: number } {
  const { model, cpu, peak, vector, units } = rates;
  const { n, k } = work;
  const at = (ideal: number, share: number) => ({ real: ideal * share, ideal });
  switch (work.kind) {
    case KERNEL.product:
    case KERNEL.convolution:
      return cpu
        ? at(
            peak,
            work.kind === KERNEL.product ? model.cpu_gemm_e : model.cpu_conv_e
          )
        : at(peak, model.gemm_e * utilisation(work, units, model));
    case KERNEL.grouped: {
      const step = model.grouped_step;
      const columns = n / (Math.ceil(n / step) * step);
      const depth = k / (k + model.grouped_k0);
      return at(peak, model.grouped_e * columns * depth);
    }
    case KERNEL.depthwise:
      return at(vector, model.depthwise_e);
    case KERNEL.batched:
      return at(peak, model.batched_e);
    case KERNEL.attention: {
      const tiles = work.batch * Math.ceil(work.m / model.attention_rows);
      const busy = units === null ? 1 : Math.min(1, tiles / units);
      return at(rates.attention, model.attention_e * busy);
    }
    default:
      return at(Number.POSITIVE_INFINITY, 1);
  }
}

/** Seconds to move the bytes: the activations of a small kernel stay in the cache. */
function movedIn({ weights, activations }: IWork, rates: IRates): number {
  const { model, bandwidth, cacheBytes, cacheRate, cpu } = rates;
  const share = cpu ? model.cpu_memory_e : model.memory_e;
  const near = activations <= cacheBytes && !cpu;
  const rate = near ? Math.max(bandwidth, cacheRate) : bandwidth;
  return (weights / bandwidth + activations / rate) / share;
}

/** Seconds of a kernel; NaN where a number that they need is unknown. */
export function kernelTime(
  work: IWork,
  rates: IRates
): {
  readonly seconds: number;
  readonly compute: number;
  readonly memory: number;
  readonly ideal: number;
} {
  const { model, cpu, bandwidth } = rates;
  const rate = rateOf(work, rates);
  const { runs, flops } = work;
  const compute = runs * (flops / rate.real);
  const memory = runs * movedIn(work, rates);
  const launch = runs * (cpu ? model.cpu_overhead_s : model.overhead_s);
  const bytes = (work.weights + work.activations) / bandwidth;
  return {
    seconds: Math.max(compute, memory) + launch,
    compute,
    memory,
    ideal: runs * Math.max(flops / rate.ideal, bytes)
  };
}
