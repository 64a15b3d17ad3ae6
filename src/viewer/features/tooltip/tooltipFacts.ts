/** Contents of a box's tooltip: what it is, its inputs and outputs, its costs. */

import { boundary, formatCount, formatShare, TENSOR_KIND } from '../../../core';
import type { IGroupTree } from '../../../core';
import { partOf, partsOf } from '../../../core/tree/repeatParts';
import { totalOf } from '../../../core/model/modelTotals';
import type { IGraphModel, MetricId, PayloadMetric } from '../../../core/types';
import { METRICS } from '../../../schema/metrics';
import { chipText } from '../../../core/tree/chips';
import {
  OVERLAYS,
  type IOverlayDefinition,
  type OverlayId
} from '../../overlays';
import { lacksParts, metricOf } from '../../overlays/metricOf';
import { overlayText } from '../../overlays/computeOverlay';
import type { ITranslate } from '../../i18n/translate';
import { shortLabel } from '../../ui/safeText';
import { ownValue } from '../../../core/base/ownValue';

/** A label and its value, such as `MACs` and `118 M (2.9 % of the model)`. */
export interface IFact {
  readonly label: string;
  readonly text: string;
}

/** Costs in every tooltip; that of the heatmap is added. */
const COSTS = ['macs', 'flops', 'params'] as const;
/** Maximum number of shapes listed; otherwise their number is shown. */
const MAX_SHAPES = 3;

/** Inputs and outputs of a node or group, without weights and constants. */
function ends(
  tree: IGroupTree,
  entity: number
): { readonly inputs: number[]; readonly outputs: number[] } {
  const { model } = tree;
  const flows = (tensor: number): boolean =>
    tensor >= 0 &&
    model.tensorKind[tensor] !== TENSOR_KIND.initializer &&
    model.tensorKind[tensor] !== TENSOR_KIND.constant;
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

function shapeOf(model: IGraphModel, tensor: number): string {
  return `${model.dtypeText(tensor)} ${shortLabel(model.shapeText(tensor), 60)}`;
}

function shapes(
  model: IGraphModel,
  tensors: readonly number[],
  trans: ITranslate
): string {
  const listed = tensors
    .slice(0, MAX_SHAPES)
    .map(tensor => shapeOf(model, tensor));
  const omitted = tensors.length - listed.length;
  const more = omitted > 0 ? [trans._n('%1 more', '%1 more', omitted)] : [];
  return [...listed, ...more].join(', ');
}

/** Why a node's value is unknown; without a reason for a block. */
function whyUnknown(
  { payload, nodeCount }: IGraphModel,
  entity: number,
  trans: ITranslate
): string {
  const { reason } = payload.nodes;
  const cause = ownValue(reason, String(entity));
  return entity < nodeCount && cause !== undefined
    ? trans.__('unknown: %1', shortLabel(cause, 120))
    : trans.__('unknown');
}

function withShare(
  text: string,
  value: number,
  total: number | null,
  trans: ITranslate
): string {
  return total !== null && total > 0 && value > 0
    ? trans.__('%1 (%2 of the model)', text, formatShare(value / total))
    : text;
}

/** True if a node's value is missing: the known sum is then not a total to compute shares of. */
function lacksSome(column: Float64Array | undefined): boolean {
  return column !== undefined && column.some(value => Number.isNaN(value));
}

/** The value, marked as a lower bound if incomplete, and its share of the model. */
function metricText(
  tree: IGroupTree,
  id: PayloadMetric,
  entity: number,
  total: number | null,
  trans: ITranslate
): string {
  const value = metricOf(tree, id, entity);
  if (Number.isNaN(value)) {
    return whyUnknown(tree.model, entity, trans);
  }
  const prefix = lacksParts(tree, id, entity) ? '≥ ' : '';
  const completeTotal = lacksSome(tree.model.metrics[id]) ? null : total;
  return withShare(prefix + formatCount(value), value, completeTotal, trans);
}

/** The sum of a metric over the model; null if its values cannot be added up. */
function sumOf(
  tree: IGroupTree,
  definition: IOverlayDefinition
): number | null {
  if (definition.additive === false) {
    return null;
  }
  if (definition.id === 'weight_bytes') {
    // Shared weights count once.
    return tree.model.payload.metrics.weight_bytes;
  }
  let sum = 0;
  for (const entity of tree.children[0]) {
    const value = definition.value(tree, entity);
    sum += value > 0 ? value : 0;
  }
  return sum;
}

/** The value that colours the box. */
function overlayFact(
  tree: IGroupTree,
  entity: number,
  overlay: OverlayId,
  trans: ITranslate
): IFact {
  const definition: IOverlayDefinition = OVERLAYS[overlay];
  const label = shortLabel(definition.label(trans, tree), 60);
  const value = definition.value(tree, entity);
  if (Number.isNaN(value)) {
    return { label, text: whyUnknown(tree.model, entity, trans) };
  }
  const prefix = lacksParts(tree, overlay as MetricId, entity) ? '≥ ' : '';
  const text = prefix + overlayText(definition, value);
  const column = tree.model.metrics[overlay as MetricId];
  const completeTotal = lacksSome(column) ? null : sumOf(tree, definition);
  return { label, text: withShare(text, value, completeTotal, trans) };
}

/** Instance number, or number of instances: `3 of 12`, `12`. */
function instanceFact(
  tree: IGroupTree,
  entity: number,
  trans: ITranslate
): IFact | null {
  const group = entity - tree.model.nodeCount;
  if (group >= 0 && tree.groupIsRepeat[group] === 1) {
    const count = partsOf(tree, group).length;
    return { label: trans.__('Instances'), text: `×${formatCount(count)}` };
  }
  const repeatPart = partOf(tree, entity);
  if (!repeatPart || repeatPart.index < 0) {
    return null;
  }
  const count = partsOf(tree, repeatPart.repeatGroup).length;
  return {
    label: trans.__('Instance'),
    text: trans.__('%1 of %2', repeatPart.index + 1, count)
  };
}

/** Maximum number of a chip's nodes named in a tooltip. */
const MAX_NAMED = 4;

/** The nodes that prepare inputs for the box, and their costs. */
function preparedFact(
  tree: IGroupTree,
  group: number,
  trans: ITranslate
): IFact {
  const { model, groupStart, groupEnd, nodeOrder, groupMain } = tree;
  const nodes = Array.from(
    nodeOrder.subarray(groupStart[group], groupEnd[group])
  ).filter(node => node !== groupMain[group]);
  const named = nodes
    .slice(0, MAX_NAMED)
    .map(node => `${model.opType(node)} ${model.nodeName(node)}`.trim());
  const omitted = nodes.length - named.length;
  const more = omitted > 0 ? [trans._n('%1 more', '%1 more', omitted)] : [];
  const values = nodes.map(node => model.metrics.flops[node]);
  const finite = values.filter(value => !Number.isNaN(value));
  const sum = finite.reduce((total, value) => total + value, 0);
  const prefix = finite.length < values.length ? '≥ ' : '';
  const cost = `${prefix}${formatCount(sum, 'FLOPs')}`;
  return {
    label: chipText(tree, group),
    text: `${shortLabel([...named, ...more].join(', '), 200)}; ${cost}`
  };
}

/** Path, shapes and costs of a node or block; `overlay` colours it, `chips` are on its card. */
export function factsOf(
  tree: IGroupTree,
  entity: number,
  trans: ITranslate,
  overlay: OverlayId | null = null,
  chips: readonly number[] = []
): IFact[] {
  const { model } = tree;
  const { inputs, outputs } = ends(tree, entity);
  const facts: IFact[] = [];
  const add = (label: string, text: string): void => {
    if (text !== '') {
      facts.push({ label, text });
    }
  };
  add(trans.__('Path'), shortLabel(tree.path(entity).join(' › '), 200));
  add(trans.__('In'), shapes(model, inputs, trans));
  add(trans.__('Out'), shapes(model, outputs, trans));
  const several = instanceFact(tree, entity, trans);
  if (several) {
    facts.push(several);
  }
  if (entity >= model.nodeCount) {
    const size = tree.groupSize[entity - model.nodeCount];
    add(trans.__('Nodes'), formatCount(size));
  }
  for (const id of COSTS) {
    // Zero costs are omitted, except that of the overlay.
    if (id === overlay || metricOf(tree, id, entity) !== 0) {
      const { value } = totalOf(model.payload, id);
      add(METRICS[id].label(trans), metricText(tree, id, entity, value, trans));
    }
  }
  if (overlay !== null && !COSTS.some(id => id === overlay)) {
    facts.push(overlayFact(tree, entity, overlay, trans));
  }
  facts.push(...chips.map(group => preparedFact(tree, group, trans)));
  return facts;
}

/** Type, shape and ends of a pill's tensors; for several, those of the first. */
export function tensorFacts(
  tree: IGroupTree,
  tensors: readonly number[],
  trans: ITranslate
): IFact[] {
  const { model } = tree;
  const [first] = tensors;
  const readers = new Set<number>();
  for (const tensor of tensors) {
    const end = model.consumerOffsets[tensor + 1];
    for (let k = model.consumerOffsets[tensor]; k < end; k++) {
      readers.add(model.consumers[k]);
    }
  }
  const facts = [
    { label: trans.__('Type and shape'), text: shapeOf(model, first) }
  ];
  if (tensors.length > 1) {
    facts.push({
      label: trans.__('Tensors'),
      text: formatCount(tensors.length)
    });
  }
  const role = roleOf(model, first, trans);
  if (role !== '') {
    facts.push({ label: trans.__('Role'), text: role });
  }
  const maker = model.tensorProducer[first];
  if (maker >= 0 && tensors.length === 1) {
    const text = `${model.opType(maker)} ${model.nodeName(maker)}`.trim();
    facts.push({ label: trans.__('Produced by'), text: shortLabel(text, 80) });
  }
  if (readers.size > 0) {
    const [reader] = readers;
    const text =
      readers.size > 1
        ? trans._n('%1 node', '%1 nodes', readers.size)
        : `${model.opType(reader)} ${model.nodeName(reader)}`.trim();
    facts.push({ label: trans.__('Used by'), text: shortLabel(text, 80) });
  }
  return facts;
}

/** Role of a model input or output, if known: `image`, `class scores`. */
function roleOf(
  { payload, tensorName }: IGraphModel,
  tensor: number,
  trans: ITranslate
): string {
  const { identity } = payload;
  const name = tensorName(tensor);
  const values = payload.tensors.inputs.includes(tensor)
    ? identity?.inputs
    : identity?.outputs;
  const match = values?.find(value => value.name === name);
  const role = shortLabel(match?.role ?? '', 60);
  return role && match?.likely ? trans.__('probably %1', role) : role;
}
