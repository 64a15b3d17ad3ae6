/** Measured times next to the estimates for the same nodes. */

import type { IGraphModel } from '../../../core/types';
import type { TaskKernel } from '../../../schema';

/** A kernel with both times, in seconds. */
export interface IComparedTimes {
  readonly kernel: TaskKernel;
  readonly measured: number;
  readonly estimated: number;
}

/** The estimate for the nodes of a kernel, in seconds; NaN if none is known. */
export function estimateOf(model: IGraphModel, kernel: TaskKernel): number {
  if (!model.latency) {
    return Number.NaN;
  }
  const { latency } = model.metrics;
  let sum = Number.NaN;
  for (const node of kernel.nodes) {
    const seconds = node < model.nodeCount ? latency[node] : Number.NaN;
    if (!Number.isNaN(seconds)) {
      sum = (sum || 0) + seconds;
    }
  }
  // Fused nodes take no time; a kernel without any known time is unknown.
  return sum > 0 ? sum : Number.NaN;
}

/** The kernels that have both times, in their order. */
export function withEstimates(
  model: IGraphModel,
  kernels: readonly TaskKernel[]
): IComparedTimes[] {
  return kernels
    .map(kernel => ({
      kernel,
      measured: kernel.ms / 1e3,
      estimated: estimateOf(model, kernel)
    }))
    .filter(({ measured, estimated }) => measured > 0 && estimated > 0);
}

/** The median ratio of estimate to measurement; NaN without any. */
export function medianRatio(compared: readonly IComparedTimes[]): number {
  const ratios = compared
    .map(({ measured, estimated }) => estimated / measured)
    .sort((a, b) => a - b);
  const half = ratios.length >> 1;
  return ratios.length % 2
    ? ratios[half]
    : ratios.length
      ? (ratios[half - 1] + ratios[half]) / 2
      : Number.NaN;
}
