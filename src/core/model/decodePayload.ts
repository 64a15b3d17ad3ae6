/** Decodes the wire payload into typed columns: the only module that reads its columns. */

import type { GraphPayload } from '../../schema';
import { METRICS, type AnyMetric } from '../../schema/metrics';
import { groupBy } from '../base/csr';
import { perInference, isExecutionCost } from './executionCounts';
import {
  NODE_RUNS,
  type IGraphModel,
  type MetricId,
  type PayloadMetric,
  type ILatencyEstimate
} from '../types';
import { formatShape } from '../base/numberFormat';

/** `tensors.kind` of the payload. */
export const TENSOR_KIND = {
  activation: 0,
  input: 1,
  initializer: 2,
  constant: 3,
  formal: 4
} as const;

/** Metrics of a node that come from the payload, all for one inference. */
const PAYLOAD_METRICS = (Object.keys(METRICS) as AnyMetric[]).filter(
  (id): id is PayloadMetric => METRICS[id].stored !== undefined
);

/** All metrics of a node. */
export const METRIC_IDS: readonly MetricId[] = [...PAYLOAD_METRICS, 'latency'];

type Column = readonly (number | null | undefined)[] | null | undefined;

/** A column of ids; missing or invalid entries become `missing`. */
function ids(column: Column, length: number, missing = -1): Int32Array {
  const result = new Int32Array(length).fill(missing);
  const values = column ?? [];
  for (let i = 0; i < Math.min(length, values.length); i++) {
    const value = values[i];
    if (typeof value === 'number' && Number.isInteger(value)) {
      result[i] = value;
    }
  }
  return result;
}

/** A column of numbers; null, missing and negative entries become NaN. */
function numbers(column: Column, length: number): Float64Array {
  const result = new Float64Array(length).fill(NaN);
  const values = column ?? [];
  for (let i = 0; i < Math.min(length, values.length); i++) {
    const value = values[i];
    if (typeof value === 'number' && value >= 0) {
      result[i] = value;
    }
  }
  return result;
}

/** Offsets of a CSR pair, forced to be ascending and within the list. */
function offsets(column: Column, rows: number, items: number): Int32Array {
  const result = new Int32Array(rows + 1);
  const values = column ?? [];
  for (let i = 1; i <= rows; i++) {
    const value = values[i] ?? result[i - 1];
    result[i] = Math.min(items, Math.max(result[i - 1], value));
  }
  return result;
}

/** Sets ids outside `0 … limit-1` to -1, so that later code needs no checks. */
function clampIds(column: Int32Array, limit: number): Int32Array {
  for (let i = 0; i < column.length; i++) {
    if (column[i] >= limit || column[i] < 0) {
      column[i] = -1;
    }
  }
  return column;
}

/** Nodes that read each tensor, each node once, in ascending order. */
function consumersOf(
  tensorCount: number,
  inputOffsets: Int32Array,
  inputs: Int32Array
): { offsets: Int32Array; values: Int32Array } {
  const nodeCount = inputOffsets.length - 1;
  const tensors: number[] = [];
  const nodes: number[] = [];
  const lastReader = new Int32Array(tensorCount).fill(-1);
  for (let node = 0; node < nodeCount; node++) {
    for (let k = inputOffsets[node]; k < inputOffsets[node + 1]; k++) {
      const tensor = inputs[k];
      if (tensor >= 0 && lastReader[tensor] !== node) {
        lastReader[tensor] = node;
        tensors.push(tensor);
        nodes.push(node);
      }
    }
  }
  return groupBy(tensorCount, tensors, nodes);
}

function metricsOf(
  nodes: GraphPayload['nodes']
): Record<MetricId, Float64Array> {
  const count = nodes.op.length;
  const columns = PAYLOAD_METRICS.map(
    id =>
      [
        id,
        isExecutionCost(id)
          ? perInference(nodes, numbers(nodes[id], count))
          : numbers(nodes[id], count)
      ] as const
  );
  return Object.fromEntries([
    ...columns,
    ['latency', numbers(null, count)]
  ]) as Record<MetricId, Float64Array>;
}

function runsColumn({
  op,
  runs_unknown,
  uncounted
}: GraphPayload['nodes']): Uint8Array {
  const column = new Uint8Array(op.length);
  for (const node of runs_unknown) {
    column[node] = NODE_RUNS.unbounded;
  }
  for (const node of uncounted) {
    column[node] = NODE_RUNS.excluded;
  }
  return column;
}

/** The model with the latency of a device; without one, all its times are unknown. */
export function withLatencyMetric(
  model: IGraphModel,
  latency: ILatencyEstimate | null
): IGraphModel {
  const column = latency?.nodes ?? numbers(null, model.nodeCount);
  return {
    ...model,
    latency,
    metrics: { ...model.metrics, latency: column }
  };
}

/**
 * The model at other sizes: numbers and shapes come from `payload`, wiring and names are shared. The
 * payload must be of the same file.
 */
export function withMetricsOf(
  model: IGraphModel,
  payload: GraphPayload
): IGraphModel {
  const { shape } = payload.tensors;
  const texts = payload.shapes.map(formatShape);
  return {
    ...model,
    payload,
    nodeRuns: runsColumn(payload.nodes),
    metrics: metricsOf(payload.nodes),
    latency: null,
    shapeText: tensor => texts[shape[tensor]] ?? '?'
  };
}

/**
 * Decodes a payload for drawing.
 *
 * Tolerant: null and missing numbers become NaN, ids outside their table become -1, short columns are
 * padded. Never throws on a well-typed payload.
 */
export function decodePayload(payload: GraphPayload): IGraphModel {
  const { nodes, tensors, ops, dtypes, shapes, graphs, scopes } = payload;
  const nodeCount = nodes.op.length;
  const tensorCount = tensors.name.length;
  const inputs = clampIds(ids(nodes.inputs, nodes.inputs.length), tensorCount);
  const outputs = clampIds(
    ids(nodes.outputs, nodes.outputs.length),
    tensorCount
  );
  const inputOffsets = offsets(nodes.input_offsets, nodeCount, inputs.length);
  const outputOffsets = offsets(
    nodes.output_offsets,
    nodeCount,
    outputs.length
  );
  const nodeConstant = new Uint8Array(nodeCount);
  for (const node of nodes.constant) {
    nodeConstant[node] = 1;
  }
  const nodeOp = clampIds(ids(nodes.op, nodeCount), ops.length);
  const tensorShape = clampIds(ids(tensors.shape, tensorCount), shapes.length);
  const tensorDtype = clampIds(ids(tensors.dtype, tensorCount), dtypes.length);
  const consumers = consumersOf(tensorCount, inputOffsets, inputs);
  const shapeTexts = shapes.map(formatShape);
  return {
    nodeCount,
    tensorCount,
    payload,
    nodeOp,
    nodeScope: clampIds(ids(nodes.scope, nodeCount), scopes.parent.length),
    nodeGraph: clampIds(ids(nodes.graph, nodeCount, 0), graphs.name.length),
    nodeConstant,
    nodeRuns: runsColumn(nodes),
    inputOffsets,
    inputs,
    outputOffsets,
    outputs,
    metrics: metricsOf(nodes),
    latency: null,
    tensorKind: Uint8Array.from(ids(tensors.kind, tensorCount, 0)),
    tensorProducer: clampIds(ids(tensors.producer, tensorCount), nodeCount),
    consumerOffsets: consumers.offsets,
    consumers: consumers.values,
    nodeName: node => nodes.name[node] ?? '',
    opType: node => ops[nodeOp[node]]?.type ?? '?',
    category: node => ops[nodeOp[node]]?.category ?? 'custom',
    tensorName: tensor => tensors.name[tensor] ?? '',
    shapeText: tensor => shapeTexts[tensorShape[tensor]] ?? '?',
    dtypeText: tensor => dtypes[tensorDtype[tensor]] ?? '?'
  };
}

export function mainOutput(model: IGraphModel, node: number): number {
  const from = model.outputOffsets[node];
  return from < model.outputOffsets[node + 1] ? model.outputs[from] : -1;
}
