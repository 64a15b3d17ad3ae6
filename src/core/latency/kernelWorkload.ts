/** Workloads of a payload's kernels at its current sizes. The library uses the same rules. */

import type { HardwarePart } from '../../schema';
import type { TensorBytes } from './deviceTensorBytes';
import { KERNEL, type IKernelWorkload } from './kernelTime';
import { executionsOf } from '../model/executionCounts';
import type { IGraphModel } from '../types';

/** MACs of one execution of a node. */
function macsOf({ payload }: IGraphModel, node: number): number {
  return payload.nodes.macs[node] ?? Number.NaN;
}

/** MACs of one execution of each kernel; NaN if those of a node are unknown. */
function kernelMacs(model: IGraphModel, hardware: HardwarePart): Float64Array {
  const { kind, node } = hardware.kernels;
  const macs = new Float64Array(kind.length);
  const count = Math.min(model.nodeCount, node.length);
  for (let index = 0; index < count; index++) {
    if (node[index] >= 0) {
      macs[node[index]] += macsOf(model, index);
    }
  }
  return macs;
}

/** A kernel of an expert; its number of tokens is known only at run time. */
interface IExpert {
  readonly router: number;
  readonly perToken: number;
  readonly dims: readonly string[];
  /** MACs per token, 0 for a kernel that only moves memory; terms of a sum. */
  readonly macs: number;
  readonly depth: number;
}

/** Expert kernels, by kernel index. */
function expertsOf(hardware: HardwarePart): ReadonlyMap<number, IExpert> {
  const experts = new Map<number, IExpert>();
  for (const { router, chosen, dims, kernels, macs, depth } of hardware.kernels
    .routed ?? []) {
    kernels.forEach((kernel, index) =>
      experts.set(kernel, {
        router,
        perToken: chosen,
        dims,
        macs: macs[index],
        depth: depth[index]
      })
    );
  }
  return experts;
}

type IElements = NonNullable<HardwarePart['kernels']['by_element']>[number];

function elementsOf(
  hardware: HardwarePart
): ReadonlyMap<number, readonly IElements[]> {
  const entries = new Map<number, IElements[]>();
  for (const entry of hardware.kernels.by_element ?? []) {
    entries.set(entry.kernel, [...(entries.get(entry.kernel) ?? []), entry]);
  }
  return entries;
}

export class KernelWorkloads {
  private readonly _macs: Float64Array;
  private readonly _experts: ReadonlyMap<number, IExpert>;
  /** What CPUs compute element by element, by kernel index. */
  private readonly _byElement: ReadonlyMap<number, readonly IElements[]>;
  /** Nodes with an unknown number of runs. */
  private readonly _unboundedNodes: ReadonlySet<number>;

  constructor(
    private readonly _model: IGraphModel,
    private readonly _part: HardwarePart,
    private readonly _bytes: TensorBytes
  ) {
    this._macs = kernelMacs(_model, _part);
    this._experts = expertsOf(_part);
    this._byElement = elementsOf(_part);
    this._unboundedNodes = new Set(_model.payload.nodes.runs_unknown);
  }

  /** True if tokens are assumed to be spread evenly over experts. */
  isRouted(kernel: number): boolean {
    return (
      this._experts.has(kernel) ||
      this._part.kernels.kind[kernel] === KERNEL.experts
    );
  }

  of(kernel: number): IKernelWorkload {
    const { kind, anchor, product } = this._part.kernels;
    const kernelKind = kind[kernel];
    const expert = this._experts.get(kernel);
    const productIndex = product[kernel] ?? -1;
    const macs = kernelKind > KERNEL.memory ? this._macs[kernel] : 0;
    const transferred = this._transferredBytes(kernel);
    const routed =
      kernelKind === KERNEL.experts
        ? this._routing(productIndex, this._part.kernels.groups[kernel])
        : null;
    const runs =
      kernelKind < 0 || this._unboundedNodes.has(anchor[kernel])
        ? Number.NaN
        : executionsOf(this._model.payload.nodes, anchor[kernel]);
    if (expert) {
      return {
        kind: kernelKind,
        ...transferred,
        ...this._expertWorkload(expert, runs)
      };
    }
    return {
      kind: kernelKind,
      runs,
      flops: 2 * macs,
      activations: transferred.activations,
      weights: transferred.weights * (routed?.share ?? 1),
      byElement: this._elementSeconds(kernel),
      ...(routed ?? this._sizes(kernel, kernelKind, macs))
    };
  }

  /** Bytes of all weights, plus the largest working set of a kernel of known size. */
  resident(): number {
    const { kind, reads, writes } = this._part.kernels;
    const tensors = new Set(
      [...reads, ...writes].filter(tensor => this._bytes.isWeight(tensor))
    );
    let largest = 0;
    kind.forEach((_, kernel) => {
      const { weights, activations } = this._transferredBytes(kernel);
      largest = Number.isNaN(weights)
        ? largest
        : Math.max(largest, activations || 0);
    });
    return [...tensors].reduce(
      (sum, tensor) => sum + (this._bytes.bytes(tensor) || 0),
      largest
    );
  }

  private _sizes(
    kernel: number,
    kind: number,
    macs: number
  ): Pick<IKernelWorkload, 'm' | 'n' | 'k' | 'steps' | 'inputs'> {
    const { product, groups } = this._part.kernels;
    const productIndex = product[kernel] ?? -1;
    if (kind === KERNEL.attention) {
      return this._queries(productIndex, groups[kernel]);
    }
    if (kind === KERNEL.recurrent) {
      return this._recurrentSizes(kernel, productIndex, macs);
    }
    return kind > KERNEL.memory
      ? this._product(kernel, productIndex, macs)
      : { m: 0, n: 0, k: 0 };
  }

  /**
   * Workload of a recurrent layer; only the width of a step is derived from its MACs, the rest from the
   * shape of its input.
   */
  private _recurrentSizes(
    kernel: number,
    input: number,
    macs: number
  ): Pick<IKernelWorkload, 'm' | 'n' | 'k' | 'steps' | 'inputs'> {
    const { n_axis: axes, groups } = this._part.kernels;
    const { shapes, tensors } = this._model.payload;
    const [axis, k] = [axes[kernel], groups[kernel]];
    const isKnown = shapes[tensors.shape[input]]?.length === 3 && axis < 2;
    const size = (axis: number): number =>
      isKnown ? this._size(input, axis) : Number.NaN;
    const [steps, m, inputs] = [size(axis), size(1 - axis), size(2)];
    const executed = steps * m * (inputs + k);
    return { steps, m, inputs, k, n: executed === 0 ? 0 : macs / executed };
  }

  /**
   * Share of experts that receive tokens if these are spread evenly, and the rows of each such expert.
   */
  private _routing(
    router: number,
    perToken: number
  ): Pick<IKernelWorkload, 'm' | 'n' | 'k'> & { share: number } {
    const { shapes, tensors } = this._model.payload;
    const rank = shapes[tensors.shape[router]]?.length ?? 0;
    const experts = this._size(router, rank - 1);
    const elements = this._bytes.elements(router);
    if (elements === 0) {
      return { m: 0, n: 1, k: 1, share: 0 };
    }
    const expertsPerToken = Math.min(perToken, experts);
    const tokens = elements / experts;
    const share = 1 - Math.pow(1 - expertsPerToken / experts, tokens);
    return {
      m: (tokens * expertsPerToken) / (experts * share),
      n: 1,
      k: 1,
      share
    };
  }

  /** Work of one expert, weighted by how often it receives tokens. */
  private _expertWorkload(
    expert: IExpert,
    runs: number
  ): Pick<IKernelWorkload, 'runs' | 'flops' | 'm' | 'n' | 'k'> {
    const { macs, depth } = expert;
    const { share } = this._routing(expert.router, expert.perToken);
    const m = this._tokens(expert);
    return macs === 0
      ? { runs: runs + 0 * m, flops: 0, m: 0, n: 0, k: 0 }
      : {
          runs: runs * share,
          flops: 2 * macs * m,
          m,
          n: macs / depth,
          k: depth
        };
  }

  /**
   * Whole tokens per expert: for products, those of an expert that receives some; otherwise the average.
   */
  private _tokens({ router, perToken: chosen, macs }: IExpert): number {
    const { m, share } = this._routing(router, chosen);
    return Math.ceil((macs === 0 ? m * share : m) - 1e-6);
  }

  /** m × n sums of k terms; parallel products differ only in n. */
  private _product(
    kernel: number,
    tensor: number,
    macs: number
  ): Pick<IKernelWorkload, 'm' | 'n' | 'k'> {
    const { n_axis: axis, groups } = this._part.kernels;
    const elements = this._bytes.elements(tensor);
    const producer = this._model.tensorProducer[tensor];
    const producerMacs = macsOf(this._model, producer);
    if (elements === 0 || macs === 0 || producerMacs === 0) {
      // Nothing to multiply, so no tiles.
      return { m: 0, n: 0, k: 0 };
    }
    const size = this._size(tensor, axis[kernel]);
    return {
      m: elements / size,
      n: ((size / groups[kernel]) * macs) / producerMacs,
      k: producerMacs / elements
    };
  }

  /** m blocks of queries, each against all keys. */
  private _queries(
    tensor: number,
    heads: number
  ): Pick<IKernelWorkload, 'm' | 'n' | 'k'> {
    const { shapes, tensors } = this._model.payload;
    const rank = shapes[tensors.shape[tensor]]?.length ?? 0;
    const rows = this._size(tensor, rank - 2);
    // An unknown row width makes the whole workload unknown.
    let batch = Number.isNaN(this._bytes.elements(tensor)) ? Number.NaN : heads;
    for (let axis = 0; axis < rank - 2; axis++) {
      batch *= this._size(tensor, axis);
    }
    const blocks = Math.ceil(rows / this._part.model.attention_rows);
    return { m: batch * blocks, n: 1, k: 1 };
  }

  private _elementSeconds(kernel: number): number {
    return (this._byElement.get(kernel) ?? []).reduce(
      (sum, { tensor, picoseconds }) =>
        sum +
        (tensor < 0 ? 1 : this._bytes.elements(tensor)) * picoseconds * 1e-12,
      0
    );
  }

  private _size(tensor: number, axis: number): number {
    const { shapes, tensors } = this._model.payload;
    const dim = shapes[tensors.shape[tensor]]?.[axis];
    return typeof dim === 'number' ? dim : Number.NaN;
  }

  /** Bytes that one execution moves into and out of the kernel. */
  private _transferredBytes(
    kernel: number
  ): Pick<IKernelWorkload, 'weights' | 'activations'> {
    const { read_offsets, reads, write_offsets, writes } = this._part.kernels;
    const expert = this._experts.get(kernel);
    const tokens = expert ? this._tokens(expert) : Number.NaN;
    const dims = expert && new Map(expert.dims.map(dim => [dim, tokens]));
    const sums = { weights: 0, activations: 0 };
    const add = (tensor: number): void => {
      const kind = this._bytes.isWeight(tensor) ? 'weights' : 'activations';
      sums[kind] += this._bytes.bytes(tensor, dims);
    };
    for (
      let index = read_offsets[kernel];
      index < read_offsets[kernel + 1];
      index++
    ) {
      add(reads[index]);
    }
    for (
      let index = write_offsets[kernel];
      index < write_offsets[kernel + 1];
      index++
    ) {
      add(writes[index]);
    }
    return sums;
  }
}
