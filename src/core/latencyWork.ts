/** What the kernels of a payload have to do at its present sizes. */

import type { HardwarePart } from '../schema';
import type { TensorBytes } from './latencyBytes';
import { KERNEL, type IWork } from './latencyKernels';
import type { IGraphModel } from './types';

export class KernelWork {
  constructor(
    private readonly _model: IGraphModel,
    private readonly _part: HardwarePart,
    private readonly _bytes: TensorBytes
  ) {}

  of(kernel: number): IWork {
    const { kind, anchor, product } = this._part.kernels;
    const times = this._model.payload.nodes.repeat[String(anchor[kernel])];
    const runs = times === undefined ? 1 : (times ?? Number.NaN);
    const moved = this._moved(kernel);
    const made = kind[kernel] > KERNEL.memory ? product[kernel] : -1;
    const macs = made < 0 ? 0 : this._macs(made) / runs;
    return {
      ...{ kind: kind[kernel], runs, flops: 2 * macs },
      ...moved,
      ...this._sizes(kernel, macs)
    };
  }

  private _macs(tensor: number): number {
    const node = this._model.tensorProducer[tensor];
    return node < 0 ? Number.NaN : this._model.metrics.macs[node];
  }

  private _sizes(
    kernel: number,
    macs: number
  ): Pick<IWork, 'batch' | 'm' | 'n' | 'k'> {
    const { kind, product, n_axis: axis, groups } = this._part.kernels;
    const { shapes, tensors } = this._model.payload;
    const shape = shapes[tensors.shape[product[kernel]]] ?? [];
    const size = (at: number): number => {
      const dim = shape[at];
      return typeof dim === 'number' ? dim : Number.NaN;
    };
    const elements = this._bytes.elements(product[kernel]);
    let batch = 1;
    if (kind[kernel] >= KERNEL.batched) {
      for (let at = 0; at < shape.length - 2; at++) {
        batch *= size(at);
      }
    }
    if (kind[kernel] === KERNEL.attention) {
      const m = size(shape.length - 2);
      return { batch: batch * groups[kernel], m, n: 1, k: 1 };
    }
    const n = size(axis[kernel]) / groups[kernel];
    const m = elements / (n * groups[kernel] * batch);
    return { batch, m, n, k: macs / elements };
  }

  private _moved(kernel: number): Pick<IWork, 'weights' | 'activations'> {
    const { kernels } = this._part;
    let [weights, activations] = [0, 0];
    const end = kernels.read_offsets[kernel + 1];
    for (let at = kernels.read_offsets[kernel]; at < end; at++) {
      const tensor = kernels.reads[at];
      const bytes = this._bytes.bytes(tensor);
      if (this._bytes.isWeight(tensor)) {
        weights += bytes;
      } else {
        activations += bytes;
      }
    }
    const last = kernels.write_offsets[kernel + 1];
    for (let at = kernels.write_offsets[kernel]; at < last; at++) {
      activations += this._bytes.bytes(kernels.writes[at]);
    }
    return { weights, activations };
  }
}
