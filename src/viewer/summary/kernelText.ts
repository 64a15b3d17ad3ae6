/** Texts about the kernel that a node runs in. */

import { formatSeconds } from '../../core/base/numberFormat';
import { hardwareOf } from '../../core/latency/latencyEstimate';
import type { IGraphModel } from '../../core/types';
import type { HardwarePart } from '../../schema';
import type { ITranslate } from '../i18n/translate';

export interface IKernel {
  readonly id: number;
  /** The node that is assigned the time. */
  readonly anchor: number;
  /** All nodes of the kernel, in graph order. */
  readonly nodes: readonly number[];
}

/** The kernels of the runtime that the times apply to. */
function columnsOf(model: IGraphModel): HardwarePart['kernels'] | undefined {
  return (model.latency?.part ?? hardwareOf(model.payload))?.kernels;
}

/** The kernel of a node; null if it has none. */
export function kernelOf(model: IGraphModel, node: number): IKernel | null {
  const columns = columnsOf(model);
  const id = columns?.node[node] ?? -1;
  if (!columns || id < 0) {
    return null;
  }
  const nodes: number[] = [];
  columns.node.forEach((kernel, other) => {
    if (kernel === id) {
      nodes.push(other);
    }
  });
  return { id, anchor: columns.anchor[id] ?? -1, nodes };
}

/** The bound of a kernel: the longer of arithmetic and data movement, or its launch if both are short. */
export function boundText(
  { latency }: IGraphModel,
  kernel: number,
  trans: ITranslate
): string {
  const [compute, memory] = [
    latency?.compute[kernel] ?? Number.NaN,
    latency?.memory[kernel] ?? Number.NaN
  ];
  if (!(compute >= 0 && memory >= 0)) {
    return '';
  }
  const start = latency!.kernels[kernel] - Math.max(compute, memory);
  if (start > Math.max(compute, memory)) {
    return trans.__(
      'launch-bound: launch %1, data movement %2, arithmetic %3',
      formatSeconds(start),
      formatSeconds(memory),
      formatSeconds(compute)
    );
  }
  return compute >= memory
    ? trans.__(
        'compute-bound: arithmetic %1, data movement %2',
        formatSeconds(compute),
        formatSeconds(memory)
      )
    : trans.__(
        'memory-bound: data movement %1, arithmetic %2',
        formatSeconds(memory),
        formatSeconds(compute)
      );
}

export function nodeText(model: IGraphModel, node: number): string {
  return model.nodeName(node) || `${model.opType(node)} #${node}`;
}

/** Why a kernel has no time. */
export function unknownText(trans: ITranslate): string {
  return trans.__(
    'unknown: a size is unknown or an operator has no latency rule'
  );
}

/** One line about a node's time: its bound, or the kernel it is fused into. */
export function kernelText(
  model: IGraphModel,
  node: number,
  trans: ITranslate
): string {
  const columns = columnsOf(model);
  const id = columns?.node[node] ?? -1;
  const anchor = columns?.anchor[id] ?? -1;
  if (id < 0 || anchor < 0) {
    return trans.__('no kernel (nothing to run)');
  }
  const seconds = model.metrics.latency[node];
  return anchor === node
    ? Number.isNaN(seconds)
      ? unknownText(trans)
      : `${formatSeconds(seconds)}\n${boundText(model, id, trans)}`
    : trans.__('fused into %1', nodeText(model, anchor));
}
