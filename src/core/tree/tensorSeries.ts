/**
 * Model inputs and outputs that differ in their numbers only: a key and a value for every layer, say.
 * The picture shows such a series as one pill. Told by name, type and shape alone.
 */

import type { ICsrRows } from '../base/csr';
import type { IGraphModel, IScene, ISeries, SeriesByTensor } from '../types';

/** Fewer than this are shown one by one. */
const MIN_SERIES = 3;

interface IHomes {
  readonly nodePlace: Int32Array;
  readonly nodeParent: Int32Array;
  readonly groupStart: Int32Array;
  readonly groupEnd: Int32Array;
}

const withoutNumbers = (text: string) => text.replace(/\d+/g, '#');

/** Sizes must be equal; what stands for one (`s16`, `s17`) may be numbered too. */
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
  const found = new Map<string, { pattern: string; members: number[] }>();
  for (const tensor of tensors) {
    const name = model.tensorName(tensor);
    const pattern = withoutNumbers(name);
    if (pattern === name) {
      continue;
    }
    const shape = shapePattern(model.shapeText(tensor));
    const key = JSON.stringify([pattern, model.dtypeText(tensor), shape]);
    const series = found.get(key);
    if (series) {
      series.members.push(tensor);
    } else {
      found.set(key, { pattern, members: [tensor] });
    }
  }
  for (const { pattern, members } of found.values()) {
    if (members.length >= MIN_SERIES) {
      const series = { kind, pattern, members };
      members.forEach(tensor => into.set(tensor, series));
    }
  }
}

/** Results that nodes beyond the group around their maker read: these need wires of their own. */
function readElsewhere(
  model: IGraphModel,
  reads: ICsrRows,
  homes: IHomes,
  outputs: ReadonlySet<number>
): Set<number> {
  const found = new Set<number>();
  for (let node = 0; node < model.nodeCount; node++) {
    for (let k = reads.offsets[node]; k < reads.offsets[node + 1]; k++) {
      const tensor = reads.values[k];
      if (outputs.has(tensor)) {
        const group = homes.nodeParent[model.tensorProducer[tensor]];
        const place = homes.nodePlace[node];
        const inside =
          group < 0 ||
          (place >= homes.groupStart[group] && place < homes.groupEnd[group]);
        if (!inside) {
          found.add(tensor);
        }
      }
    }
  }
  return found;
}

/** The series among the inputs and outputs of the model. */
export function findSeries(
  model: IGraphModel,
  reads: ICsrRows,
  homes: IHomes
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
  const made = [...outputs].filter(t => {
    const producer = model.tensorProducer[t];
    return producer >= 0 && homes.nodePlace[producer] >= 0;
  });
  const elsewhere = readElsewhere(model, reads, homes, new Set(made));
  collect(
    model,
    'output',
    made.filter(t => !elsewhere.has(t)),
    series
  );
  return series;
}

/** The tensor that stands for this one in the picture. */
export function seriesRepresentative(
  series: SeriesByTensor,
  tensor: number
): number {
  return series.get(tensor)?.members[0] ?? tensor;
}

/** What stands for tensors in the picture: one of them, or all of a series, named by its first member. */
export interface ITensorRef {
  readonly kind: 'tensor' | 'series';
  readonly id: number;
}

/** The tensors that something stands for; none for what is not a tensor. */
export function tensorIdsOf(
  series: SeriesByTensor,
  what: { readonly kind: string; readonly id?: number } | null
): readonly number[] {
  const id = what?.id ?? -1;
  switch (what?.kind) {
    case 'tensor':
      return [id];
    case 'series':
      return series.get(id)?.members ?? [id];
    default:
      return [];
  }
}

/** What a pill stands for. */
export function pillTensorRef(
  series: SeriesByTensor,
  tensor: number
): ITensorRef {
  const lead = seriesRepresentative(series, tensor);
  return series.has(tensor)
    ? { kind: 'series', id: lead }
    : { kind: 'tensor', id: tensor };
}

/** What a wire stands for: all of the series when it carries several of it. */
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

/** What a pill says: the tensor's name, or that of its series and how many they are. */
export function pillText(
  tree: { readonly model: IGraphModel; readonly series: SeriesByTensor },
  tensor: number
): string {
  const series = tree.series.get(tensor);
  return series
    ? `${series.pattern} ×${series.members.length}`
    : tree.model.tensorName(tensor);
}
