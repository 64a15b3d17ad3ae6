/** Data of the charts: values of a model over its execution, by operator and by size. */

import { Tally } from '../../core/model/metricSums';
import type { IGraphModel, MetricId } from '../../core/types';
import { mainOutput } from '../../core/model/decodePayload';

/** Nodes in execution order, without Constant nodes. */
export function executionOrder(model: IGraphModel): Int32Array {
  return Int32Array.from({ length: model.nodeCount }, (_, node) => node).filter(
    node => model.nodeConstant[node] === 0
  );
}

export interface ICumulative {
  /** Cumulative share of the known total after each node; empty if nothing is known. */
  readonly values: Float64Array;
  readonly total: number;
  /** Nodes with unknown values: they count as 0. */
  readonly unknown: number;
}

export function cumulative(
  model: IGraphModel,
  order: Int32Array,
  metric: MetricId
): ICumulative {
  const shares = new Float64Array(order.length);
  const tally = new Tally(model, metric);
  order.forEach((node, index) => {
    tally.add(node);
    shares[index] = tally.known;
  });
  const { known: total, unknown } = tally;
  return {
    values: total > 0 ? shares.map(sum => sum / total) : new Float64Array(0),
    total,
    unknown
  };
}

/** Integers and booleans of shape arithmetic do not show how the data changes. */
const DATA = /^(float|bfloat|double|complex|u?int(2|4|8)$)/i;
/** Axes that are charted; the first axis, 0, is the batch. */
export const AXES = [1, 2, 3] as const;

export interface IShapes {
  /** Nodes whose first output has a known shape and carries data. */
  readonly nodes: Int32Array;
  /** Number of elements of that output. */
  readonly elements: Float64Array;
  /** Sizes of the axes `AXES`; NaN if there is no such axis. */
  readonly axes: readonly Float64Array[];
}

/** Changes of the data's shape from node to node. */
export function shapeEvolution(model: IGraphModel, order: Int32Array): IShapes {
  const { shapes, tensors } = model.payload;
  const nodes: number[] = [];
  const elements: number[] = [];
  const axes = AXES.map((): number[] => []);
  for (const node of order) {
    const tensor = mainOutput(model, node);
    const shape = tensor < 0 ? null : shapes[tensors.shape[tensor]];
    if (!shape || !DATA.test(model.dtypeText(tensor))) {
      continue;
    }
    const sizes = shape.map(dim =>
      typeof dim === 'number' ? dim : Number.NaN
    );
    const count = sizes.reduce((product, size) => product * size, 1);
    if (Number.isNaN(count)) {
      continue;
    }
    nodes.push(node);
    elements.push(count);
    AXES.forEach((axis, i) => axes[i].push(sizes[axis] ?? Number.NaN));
  }
  return {
    nodes: Int32Array.from(nodes),
    elements: Float64Array.from(elements),
    axes: axes.map(sizes => Float64Array.from(sizes))
  };
}

export interface IOperatorPart {
  readonly label: string;
  readonly value: number;
  /** Nodes with unknown values. */
  readonly unknown: number;
  readonly nodes: readonly number[];
}

/** Number of nodes, or the sum of a metric, by operator type, highest first. */
export function byOperator(
  model: IGraphModel,
  order: Int32Array,
  metric: MetricId | 'count'
): IOperatorPart[] {
  const parts = new Map<string, { tally: Tally | null; nodes: number[] }>();
  for (const node of order) {
    const type = model.opType(node);
    const entry = parts.get(type) ?? {
      tally: metric === 'count' ? null : new Tally(model, metric),
      nodes: []
    };
    parts.set(type, entry);
    entry.nodes.push(node);
    entry.tally?.add(node);
  }
  return [...parts]
    .map(([label, { tally, nodes }]) => ({
      label,
      value: tally ? tally.known : nodes.length,
      unknown: tally ? tally.unknown : 0,
      nodes
    }))
    .sort((a, b) => b.value - a.value || (a.label < b.label ? -1 : 1));
}

export interface IParamBin {
  /** Range of parameters: from `from` up to, but not including, ten times as many. */
  readonly from: number;
  readonly params: number;
  readonly nodes: readonly number[];
}

/**
 * Histogram of layers by number of parameters: one bin per power of ten, including empty ones in between.
 */
export function paramBins(model: IGraphModel, order: Int32Array): IParamBin[] {
  const bins = new Map<number, { params: number; nodes: number[] }>();
  for (const node of order) {
    const params = model.metrics.params[node];
    if (!(params >= 1)) {
      continue;
    }
    // The logarithm of 1000 is not exactly 3; the number of digits is exact.
    const power = Math.floor(params).toString().length - 1;
    const bin = bins.get(power) ?? { params: 0, nodes: [] };
    bins.set(power, bin);
    bin.params += params;
    bin.nodes.push(node);
  }
  if (bins.size === 0) {
    return [];
  }
  const powers = [...bins.keys()];
  const [low, high] = [Math.min(...powers), Math.max(...powers)];
  return Array.from({ length: high - low + 1 }, (_, i) => ({
    from: 10 ** (low + i),
    ...(bins.get(low + i) ?? { params: 0, nodes: [] })
  }));
}
