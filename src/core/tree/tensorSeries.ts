/**
 * Model inputs and outputs whose names differ only in numbers, such as a key and a value for every layer.
 * They are drawn as one pill. Recognised by name, type and shape alone.
 */

import type { ICsrRows } from '../base/csr';
import type { IGraphModel, IScene, ISeries, SeriesByTensor } from '../types';

/** Minimum length of a series; fewer are drawn individually. */
const MIN_SERIES = 3;

interface INodeGroups {
  readonly nodePosition: Int32Array;
  readonly nodeParent: Int32Array;
  readonly groupStart: Int32Array;
  readonly groupEnd: Int32Array;
}

const withoutNumbers = (text: string) => text.replace(/\d+/g, '#');

/** Numeric dimensions must be equal; symbols (`s16`, `s17`) may be numbered too. */
function shapePattern(shape: string): string {
  return shape
    .split('×')
    .map(dim => (/^\d*$/.test(dim) ? dim : withoutNumbers(dim)))
    .join('×');
}

function collect(
  model: IGraphModel,
  kind: ISeries['kind'],
  tensors: Iterable<number>,
  into: Map<number, ISeries>
): void {
  const byPattern = new Map<string, { pattern: string; members: number[] }>();
  for (const tensor of tensors) {
    const name = model.tensorName(tensor);
    const pattern = withoutNumbers(name);
    if (pattern === name) {
      continue;
    }
    const shape = shapePattern(model.shapeText(tensor));
    const key = JSON.stringify([pattern, model.dtypeText(tensor), shape]);
    const series = byPattern.get(key);
    if (series) {
      series.members.push(tensor);
    } else {
      byPattern.set(key, { pattern, members: [tensor] });
    }
  }
  for (const { pattern, members } of byPattern.values()) {
    if (members.length >= MIN_SERIES) {
      const series = { kind, pattern, members };
      members.forEach(tensor => into.set(tensor, series));
    }
  }
}

/** Results read by nodes outside their producer's group: these need their own wires. */
function readElsewhere(
  model: IGraphModel,
  reads: ICsrRows,
  homes: INodeGroups,
  outputs: ReadonlySet<number>
): Set<number> {
  const tensors = new Set<number>();
  for (let node = 0; node < model.nodeCount; node++) {
    for (let k = reads.offsets[node]; k < reads.offsets[node + 1]; k++) {
      const tensor = reads.values[k];
      if (outputs.has(tensor)) {
        const group = homes.nodeParent[model.tensorProducer[tensor]];
        const position = homes.nodePosition[node];
        const inside =
          group < 0 ||
          (position >= homes.groupStart[group] &&
            position < homes.groupEnd[group]);
        if (!inside) {
          tensors.add(tensor);
        }
      }
    }
  }
  return tensors;
}

/** The series among the inputs and outputs of the model. */
export function findSeries(
  model: IGraphModel,
  reads: ICsrRows,
  homes: INodeGroups
): SeriesByTensor {
  const { tensors } = model.payload;
  const usable = (tensor: number) => tensor >= 0 && tensor < model.tensorCount;
  const inputs = new Set(tensors.inputs.filter(usable));
  const outputs = new Set(tensors.outputs.filter(usable));
  const series = new Map<number, ISeries>();
  collect(
    model,
    'input',
    [...inputs].filter(t => model.tensorProducer[t] < 0 && !outputs.has(t)),
    series
  );
  const produced = [...outputs].filter(t => {
    const producer = model.tensorProducer[t];
    return producer >= 0 && homes.nodePosition[producer] >= 0;
  });
  const elsewhere = readElsewhere(model, reads, homes, new Set(produced));
  collect(
    model,
    'output',
    produced.filter(t => !elsewhere.has(t)),
    series
  );
  return series;
}

/** The tensor that represents this one in the graph. */
export function seriesRepresentative(
  series: SeriesByTensor,
  tensor: number
): number {
  return series.get(tensor)?.members[0] ?? tensor;
}

/** What is drawn for tensors: a single one, or a series named by its first member. */
export interface ITensorRef {
  readonly kind: 'tensor' | 'series';
  readonly id: number;
}

/** The tensors that a selection stands for; empty if it is not a tensor. */
export function tensorIdsOf(
  series: SeriesByTensor,
  selection: { readonly kind: string; readonly id?: number } | null
): readonly number[] {
  const id = selection?.id ?? -1;
  switch (selection?.kind) {
    case 'tensor':
      return [id];
    case 'series':
      return series.get(id)?.members ?? [id];
    default:
      return [];
  }
}

/** The tensor or series that a pill stands for. */
export function pillTensorRef(
  series: SeriesByTensor,
  tensor: number
): ITensorRef {
  const representative = seriesRepresentative(series, tensor);
  return series.has(tensor)
    ? { kind: 'series', id: representative }
    : { kind: 'tensor', id: tensor };
}

/** The tensor or series that a wire stands for: the series if it carries several of its members. */
export function wireTensorRef(
  scene: Pick<IScene, 'edgeTensor' | 'edgeWeight'>,
  series: SeriesByTensor,
  edge: number
): ITensorRef {
  const id = scene.edgeTensor[edge];
  const several =
    scene.edgeWeight[edge] > 1 && seriesRepresentative(series, id) === id;
  return several ? pillTensorRef(series, id) : { kind: 'tensor', id };
}

/** Label of a pill: the tensor's name, or that of its series with the number of members. */
export function pillText(
  tree: { readonly model: IGraphModel; readonly series: SeriesByTensor },
  tensor: number
): string {
  const series = tree.series.get(tensor);
  return series
    ? `${series.pattern} ×${series.members.length}`
    : tree.model.tensorName(tensor);
}
