/** Latency of a model on a device, estimated from shapes alone as a time for every fused kernel. */

import type { GraphPayload, HardwarePart } from '../../schema';
import { requiredBytes, TensorBytes } from './deviceTensorBytes';
import { hostLaunchSeconds, KERNEL, kernelTime, ratesOf } from './kernelTime';
import { KernelWorkloads } from './kernelWorkload';
import { withLatencyMetric } from '../model/decodePayload';
import { cannotRun } from '../model/runnable';
import type { IGraphModel, IDeviceChoice, ILatencyEstimate } from '../types';
import { ownValue } from '../base/ownValue';

const TENSORRT = 'tensorrt';
const VENDOR = 'vendor';

/** True for TensorRT and what is taken to fuse like it. */
export function isFusing(runtime: string = TENSORRT): boolean {
  return runtime === TENSORRT || runtime === VENDOR;
}

/** Index of a device; -1 if the payload does not list it. */
export function deviceOf(hardware: HardwarePart, id: string): number {
  return id === '' ? -1 : hardware.devices.id.indexOf(id);
}

/** The hardware section for another runtime; unchanged if the payload does not list that runtime. */
export function inRuntime(hardware: HardwarePart, id = ''): HardwarePart {
  const other = (hardware.runtimes ?? []).find(runtime => runtime.id === id);
  if (!other) {
    return hardware;
  }
  const { kernels, label, overhead_s, overhead_cycles, issue_s, compared } =
    other;
  const model = {
    ...hardware.model,
    overhead_s,
    overhead_cycles,
    issue_s,
    compared
  };
  return { ...hardware, kernels, model, runtime: id, runtime_label: label };
}

/** Precisions for which a device has a peak, in the payload's order. */
export function precisionsOf(hardware: HardwarePart, device: number): string[] {
  return Object.keys(hardware.devices.peaks).filter(
    name => (ownValue(hardware.devices.peaks, name)?.[device] ?? 0) > 0
  );
}

/** Id of the runtime that a device is used with: `usual` of the library's `runtimes`. */
export function usualRuntime(
  { devices }: HardwarePart,
  device: number
): string {
  if (devices.category[device] === 'cpu') {
    return 'ort-cuda';
  }
  const isOther =
    !['', 'nvidia'].includes(devices.vendor[device] ?? '') &&
    devices.confidence[device] !== 'custom';
  return isOther ? VENDOR : TENSORRT;
}

/**
 * The hardware section for a device: in the requested runtime, else in that of the analysis if it was made
 * for this device, else in the usual one.
 */
export function partOf(
  hardware: HardwarePart,
  device: number,
  requested = ''
): HardwarePart {
  const isChosen =
    hardware.chosen !== '' && hardware.devices.id[device] === hardware.chosen;
  if (requested !== '' || device < 0 || isChosen) {
    return inRuntime(hardware, requested);
  }
  const usual = usualRuntime(hardware, device);
  if (usual !== VENDOR || hardware.runtime === VENDOR) {
    return inRuntime(hardware, usual);
  }
  // It has the kernels and constants of TensorRT.
  const part = inRuntime(hardware, TENSORRT);
  return (part.runtime ?? TENSORRT) === TENSORRT
    ? { ...part, runtime: VENDOR, runtime_label: 'Compiler of the vendor' }
    : part;
}

/**
 * The precision to compute in: the requested one, else the first of the model's that the device supports.
 */
export function precisionOf(
  hardware: HardwarePart,
  device: number,
  requested: string
): string | null {
  const offered = precisionsOf(hardware, device);
  return (
    (requested !== '' ? [requested] : hardware.stored).find(name =>
      offered.includes(name)
    ) ?? null
  );
}

/**
 * The error band of a device: at least the second if the precision was never compared with measured
 * times, or if such kernels take much of the time (`uncompared` is their share).
 */
export function errorBandOf(
  { model, devices }: HardwarePart,
  device: number,
  precision: string,
  uncompared = 0
): HardwarePart['model']['bands'][number] | undefined {
  const isCompared =
    model.compared.includes(precision) && uncompared <= model.uncompared_share;
  const least = isCompared ? 0 : 1;
  return model.bands[Math.max(devices.band[device], least)];
}

/** Sums over the kernels, with the error band of the device. */
function totalsOf(
  hardware: HardwarePart,
  device: number,
  precision: string,
  kernels: Float64Array,
  ideals: Float64Array,
  work: KernelWorkloads,
  runs: boolean
): Pick<
  ILatencyEstimate,
  'seconds' | 'low' | 'high' | 'ideal' | 'label' | 'uncompared' | 'unknown'
> {
  let [seconds, ideal, unknown, guessed] = [0, 0, 0, 0];
  for (let kernel = 0; kernel < kernels.length; kernel++) {
    if (Number.isNaN(kernels[kernel])) {
      unknown++;
    } else {
      seconds += kernels[kernel];
      ideal += ideals[kernel];
      const isGuess =
        hardware.kernels.kind[kernel] >= KERNEL.recurrent ||
        work.isRouted(kernel);
      guessed += isGuess ? kernels[kernel] : 0;
    }
  }
  // Without a kernel that runs, the total is unknown, not 0.
  if (unknown === kernels.length || !runs) {
    [seconds, ideal] = [Number.NaN, Number.NaN];
  }
  const uncompared = seconds > 0 ? guessed / seconds : 0;
  const band = errorBandOf(hardware, device, precision, uncompared);
  return { ...withErrorBand(band, seconds, ideal), uncompared, unknown };
}

/** A time with its error band, whose low end is never below the ideal time. */
export function withErrorBand(
  band: ReturnType<typeof errorBandOf>,
  seconds: number,
  ideal: number
): Pick<ILatencyEstimate, 'seconds' | 'low' | 'high' | 'ideal' | 'label'> {
  return {
    seconds,
    low: Math.max(seconds * (band?.low ?? Number.NaN), ideal),
    high: seconds * (band?.high ?? Number.NaN),
    ideal,
    label: band?.label ?? ''
  };
}

function sumOf(numbers: Float64Array): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}

/** The times of kernels at their anchor nodes; all other nodes that run take no time of their own. */
function byNode(
  model: IGraphModel,
  anchor: readonly number[],
  kernels: Float64Array
): Float64Array {
  const nodes = new Float64Array(model.nodeCount);
  kernels.forEach((seconds, kernel) => {
    if (anchor[kernel] >= 0 && anchor[kernel] < nodes.length) {
      nodes[anchor[kernel]] += seconds;
    }
  });
  return nodes;
}

/**
 * Latency of the model at its current sizes; null without a listed device, or if it has no peak for the
 * precision.
 */
export function latencyOf(
  model: IGraphModel,
  choice: IDeviceChoice | null
): ILatencyEstimate | null {
  const stored = hardwareOf(model.payload);
  const device = stored && choice ? deviceOf(stored, choice.device) : -1;
  const hardware = stored && partOf(stored, device, choice?.runtime);
  const precision =
    hardware && device >= 0
      ? precisionOf(hardware, device, choice!.precision)
      : null;
  if (hardware === null || precision === null) {
    return null;
  }
  const bytes = new TensorBytes(
    model,
    ownValue(hardware.model.widths, precision) ?? Number.NaN
  );
  const work = new KernelWorkloads(model, hardware, bytes);
  const rates = ratesOf(hardware, device, precision, work.resident());
  const count = hardware.kernels.kind.length;
  const [kernels, compute, memory, ideals, times] = Array.from(
    { length: 5 },
    () => new Float64Array(count)
  );
  for (let kernel = 0; kernel < count; kernel++) {
    const workload = work.of(kernel);
    const time = kernelTime(workload, rates);
    times[kernel] = workload.runs;
    kernels[kernel] = time.seconds;
    compute[kernel] = time.compute;
    memory[kernel] = time.memory;
    ideals[kernel] = time.ideal;
  }
  const isKnown = (seconds: number): boolean => !Number.isNaN(seconds);
  const issued =
    hostLaunchSeconds(rates) *
    sumOf(times.filter((_, index) => isKnown(kernels[index])));
  if (issued > sumOf(kernels.filter(isKnown))) {
    // The host is slower than the device: every kernel takes as long as its launch.
    kernels.forEach((seconds, index) => {
      kernels[index] = isKnown(seconds)
        ? hostLaunchSeconds(rates) * times[index]
        : seconds;
    });
  }
  const runs = cannotRun(model.payload) === '';
  return {
    device,
    precision,
    part: hardware,
    kernels,
    compute,
    memory,
    nodes: byNode(model, hardware.kernels.anchor, kernels),
    required: requiredBytes(model, bytes),
    ...totalsOf(hardware, device, precision, kernels, ideals, work, runs)
  };
}

/** Bytes of a device's memory that a model may use; NaN if not published. */
export function usableDeviceBytes(
  { devices }: HardwarePart,
  device: number
): number {
  const share = devices.usable_memory_fraction[device] ?? 1;
  return Math.floor((devices.memory_bytes[device] ?? Number.NaN) * share);
}

/** The model with its latency on the chosen device, or without latency. */
export function withLatency(
  model: IGraphModel,
  choice: IDeviceChoice | null
): IGraphModel {
  return withLatencyMetric(model, latencyOf(model, choice));
}

/** The device chosen for the analysis; null if none was. */
export function chosenDevice(payload: GraphPayload): IDeviceChoice | null {
  const hardware = hardwareOf(payload);
  return hardware && deviceOf(hardware, hardware.chosen) >= 0
    ? { device: hardware.chosen, precision: hardware.precision }
    : null;
}

/** The hardware section; payloads of earlier versions lack it. */
export function hardwareOf(payload: GraphPayload): HardwarePart | null {
  return (payload.hardware as HardwarePart | null | undefined) ?? null;
}
