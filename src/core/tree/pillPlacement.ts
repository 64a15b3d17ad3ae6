/**
 * Places the pills of inputs and outputs. Most are at the root, where similar tensors share one pill;
 * long series that cannot share one (different shapes, or read by other blocks too) go into the group
 * that uses them, since they would clutter the root.
 */

import type { ICsrRows } from '../base/csr';
import type { IGraphModel, SeriesByTensor } from '../types';

/** Minimum number of names that differ only in their numbers to form a series. */
const MIN_LONG_SERIES = 8;

interface IParents {
  readonly parent: Int32Array;
  readonly depth: Int32Array;
  readonly nodeParent: Int32Array;
}

/** Tensors that belong to a series but do not share a pill at the root. */
function findLongSeries(
  model: IGraphModel,
  tensors: readonly number[],
  bundled: SeriesByTensor
): Set<number> {
  const series = new Map<string, number[]>();
  for (const tensor of tensors.filter(t => !bundled.has(t))) {
    const name = model.tensorName(tensor).replace(/\d+/g, '#');
    const members = series.get(name);
    if (members) {
      members.push(tensor);
    } else {
      series.set(name, [tensor]);
    }
  }
  const long = [...series.values()].filter(
    list => list.length >= MIN_LONG_SERIES
  );
  return new Set(long.flat());
}

/** The deepest group that contains both; -1 is the root. */
function commonGroup({ parent, depth }: IParents, a: number, b: number) {
  while (a !== b) {
    const rise = b < 0 || (a >= 0 && depth[a] >= depth[b]);
    if (rise) {
      a = parent[a];
    } else {
      b = parent[b];
    }
  }
  return a;
}

/** Group of each input's pill, by tensor; see `IGroupTree.inputPillGroup`. */
export function inputPillGroups(
  model: IGraphModel,
  parents: IParents,
  reads: ICsrRows,
  groupBody: Int32Array,
  bundled: SeriesByTensor
): Int32Array {
  const { tensors, graphs } = model.payload;
  const pillGroup = new Int32Array(model.tensorCount).fill(-1);
  groupBody.forEach((graph, group) => {
    for (const tensor of graph > 0 ? graphs.inputs[graph] : []) {
      if (tensor >= 0 && tensor < model.tensorCount) {
        pillGroup[tensor] = group;
      }
    }
  });
  const sinking = findLongSeries(model, tensors.inputs, bundled);
  const visited = new Set<number>();
  for (let node = 0; sinking.size > 0 && node < model.nodeCount; node++) {
    for (let k = reads.offsets[node]; k < reads.offsets[node + 1]; k++) {
      const tensor = reads.values[k];
      const group = parents.nodeParent[node];
      if (sinking.has(tensor)) {
        pillGroup[tensor] = visited.has(tensor)
          ? commonGroup(parents, pillGroup[tensor], group)
          : group;
        visited.add(tensor);
      }
    }
  }
  return pillGroup;
}

/** Model outputs by the group of their pill; see `IGroupTree.outputsOf`. */
export function outputPillGroups(
  model: IGraphModel,
  nodeParent: Int32Array,
  bundled: SeriesByTensor
): Map<number, number[]> {
  const outputs = model.payload.tensors.outputs.filter(
    tensor => tensor >= 0 && tensor < model.tensorCount
  );
  const sinking = findLongSeries(model, outputs, bundled);
  const homes = new Map<number, number[]>();
  for (const tensor of outputs) {
    const producer = model.tensorProducer[tensor];
    const sinks = producer >= 0 && sinking.has(tensor);
    const group = sinks ? nodeParent[producer] : -1;
    const list = homes.get(group);
    if (list) {
      list.push(tensor);
    } else {
      homes.set(group, [tensor]);
    }
  }
  return homes;
}
