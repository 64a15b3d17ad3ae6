/** What the tip of a box says: what it is, what goes in and out, what it costs. */

import { boundary, formatCount, formatShare, TENSOR_KIND } from '../../core';
import type { IGroupTree } from '../../core';
import type { IGraphModel, PayloadMetric } from '../../core/types';
import { lacksParts, metricOf } from '../overlays/metric';
import type { ITranslate } from '../translate';
import { brief } from '../ui/text';

/** A word and its value, such as `MACs` and `118 M (2.9 %)`. */
export interface IFact {
  readonly label: string;
  readonly text: string;
}

/** Shapes that are listed; of more the number is said. */
const SHAPES = 3;

/** Tensors that go in and out of a node or group, without weights and constants. */
function ends(
  tree: IGroupTree,
  entity: number
): { readonly inputs: number[]; readonly outputs: number[] } {
  const { model } = tree;
  const flows = (tensor: number): boolean =>
    tensor >= 0 &&
    (model.tensorKind[tensor] === TENSOR_KIND.activation ||
      model.tensorKind[tensor] === TENSOR_KIND.input);
  if (entity >= model.nodeCount) {
    const { inputs, outputs } = boundary(tree, entity - model.nodeCount);
    return { inputs: inputs.filter(flows), outputs: outputs.filter(flows) };
  }
  const slice = (values: Int32Array, offsets: Int32Array): number[] =>
    Array.from(values.subarray(offsets[entity], offsets[entity + 1])).filter(
      flows
    );
  return {
    inputs: [...new Set(slice(model.inputs, model.inputOffsets))],
    outputs: slice(model.outputs, model.outputOffsets)
  };
}

function shapes(
  model: IGraphModel,
  tensors: readonly number[],
  trans: ITranslate
): string {
  const shown = tensors
    .slice(0, SHAPES)
    .map(
      tensor =>
        `${model.dtypeText(tensor)} ${brief(model.shapeText(tensor), 60)}`
    );
  const rest = tensors.length - shown.length;
  const more = rest > 0 ? [trans._n('%1 more', '%1 more', rest)] : [];
  return [...shown, ...more].join(', ');
}

/** The value, marked as a lower bound where parts are unknown, and its share of the model. */
function amount(
  tree: IGroupTree,
  id: PayloadMetric,
  entity: number,
  total: number | null,
  trans: ITranslate
): string {
  const value = metricOf(tree, id, entity);
  if (Number.isNaN(value)) {
    const { reason } = tree.model.payload.nodes;
    const key = String(entity);
    const why =
      entity < tree.model.nodeCount && Object.hasOwn(reason, key)
        ? reason[key]
        : '';
    return why === ''
      ? trans.__('unknown')
      : trans.__('unknown: %1', brief(why, 120));
  }
  const text = `${lacksParts(tree, id, entity) ? '≥ ' : ''}${formatCount(value)}`;
  return total !== null && total > 0 && value > 0
    ? trans.__('%1 (%2 of the model)', text, formatShare(value / total))
    : text;
}

/** Shapes and costs of a box. `painted`: the number that colours it, with its name. */
export function factsOf(
  tree: IGroupTree,
  entity: number,
  trans: ITranslate,
  painted: IFact | null = null
): IFact[] {
  const { model } = tree;
  const { inputs, outputs } = ends(tree, entity);
  const { metrics } = model.payload;
  const facts: IFact[] = [];
  const add = (label: string, text: string): void => {
    if (text !== '') {
      facts.push({ label, text });
    }
  };
  add(trans.__('In'), shapes(model, inputs, trans));
  add(trans.__('Out'), shapes(model, outputs, trans));
  if (entity >= model.nodeCount) {
    add(
      trans.__('Nodes'),
      formatCount(tree.groupSize[entity - model.nodeCount])
    );
  }
  const rows = [
    ['macs', trans.__('MACs'), metrics.total_macs],
    ['flops', trans.__('FLOPs'), metrics.total_flops],
    ['params', trans.__('Parameters'), metrics.total_params]
  ] as const;
  for (const [id, label, total] of rows) {
    // What costs nothing needs no line.
    if (metricOf(tree, id, entity) !== 0) {
      add(label, amount(tree, id, entity, total, trans));
    }
  }
  if (painted && !facts.some(fact => fact.label === painted.label)) {
    add(painted.label, painted.text);
  }
  return facts;
}
