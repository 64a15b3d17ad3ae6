/** The fields that a query can compare, and their values for nodes and groups. */

import type { DimValue } from '../../schema';
import { attributeValue } from '../model/nodeAttributes';
import { METRICS, type AnyMetric } from '../../schema/metrics';
import { derivedOf } from '../model/derivedMetric';
import type { IGraphModel, ITree, MetricId } from '../types';

/** A value of one entity: numbers, texts (any of which may match), or null when unknown. */
export type FieldValue = number | readonly string[] | null;

export interface IField {
  /** `size` is a dimension: a number or the name of a symbol. */
  readonly type: 'number' | 'text' | 'size';
  value(tree: ITree, entity: number): FieldValue;
}

/** A metric of a node, or its sum over a group; NaN if any of its parts is unknown. */
function column(tree: ITree, id: MetricId, entity: number): number {
  const { model } = tree;
  if (entity < model.nodeCount) {
    return model.metrics[id][entity];
  }
  const group = entity - model.nodeCount;
  // An incomplete sum is a lower bound, which cannot decide a comparison.
  return tree.groupUnknown[id][group] > 0
    ? Number.NaN
    : tree.groupMetrics[id][group];
}

function numberField(id: AnyMetric): IField {
  const metric = METRICS[id];
  return {
    type: 'number',
    value: (tree, entity) => {
      const value = metric.over
        ? derivedOf(metric, metricId => column(tree, metricId, entity))
        : column(tree, id as MetricId, entity);
      return Number.isNaN(value) ? null : value;
    }
  };
}

/** Texts of a node; groups have none. */
function nodeText(
  value: (model: IGraphModel, node: number) => readonly string[] | null
): IField {
  return {
    type: 'text',
    value: ({ model }, entity) =>
      entity < model.nodeCount ? value(model, entity) : null
  };
}

/** Labels, classes and paths of the modules around a node. */
function scopeTexts(model: IGraphModel, node: number): string[] {
  const labels: string[] = [];
  const classes: string[] = [];
  const { parent, label, type } = model.payload.scopes;
  // A parent comes before its children, so the walk ends even for an invalid file.
  for (let scope = model.nodeScope[node]; scope >= 0;) {
    labels.push(label[scope] ?? '');
    classes.push(type[scope] ?? '');
    const above = parent[scope] ?? -1;
    scope = above < scope ? above : -1;
  }
  const path = (parts: string[]): string =>
    parts
      .filter(segment => segment)
      .reverse()
      .join('/');
  return [...labels, ...classes, path(labels), path(classes)];
}

function name(tree: ITree, entity: number): readonly string[] {
  const { model } = tree;
  return entity < model.nodeCount
    ? [model.nodeName(entity)]
    : [tree.groupLabel[entity - model.nodeCount]];
}

/** The recorded module of a node; -1 if the file does not record it. */
function moduleOf(model: IGraphModel, node: number): number {
  return model.payload.modules?.node[node] ?? -1;
}

/** Labels and classes around a node, and the tag recorded by its exporter. */
function tag(tree: ITree, entity: number): readonly string[] {
  const { model } = tree;
  if (entity < model.nodeCount) {
    const recorded = model.payload.modules?.tag[moduleOf(model, entity)];
    const texts = scopeTexts(model, entity);
    return recorded === undefined ? texts : [...texts, recorded];
  }
  const group = entity - model.nodeCount;
  const path = [...tree.path(entity), tree.groupLabel[group]];
  return [...path, path.join('/'), tree.groupType[group]];
}

/** Metrics that can be queried, and their names in queries. */
const NUMBERS = (Object.keys(METRICS) as AnyMetric[]).map(
  id => [id, METRICS[id].query ?? []] as const
);

const ALIASES = new Set(NUMBERS.flatMap(([, names]) => names.slice(1)));

const FIELDS: ReadonlyMap<string, IField> = new Map<string, IField>([
  ['name', { type: 'text', value: name }],
  ['op', nodeText((model, node) => [model.opType(node)])],
  ['tag', { type: 'text', value: tag }],
  ['module', { type: 'text', value: tag }],
  [
    'scope',
    nodeText(
      (model, node) =>
        model.payload.modules?.scopes[moduleOf(model, node)] ?? null
    )
  ],
  [
    'domain',
    nodeText((model, node) => [
      model.payload.ops[model.nodeOp[node]]?.domain ?? ''
    ])
  ],
  [
    'dtype',
    nodeText((model, node) => {
      const tensor = tensorAt(model, 'out', node, 0);
      return tensor < 0 ? null : [model.dtypeText(tensor)];
    })
  ],
  ...NUMBERS.flatMap(([id, names]) =>
    names.map(name => [name, numberField(id)] as const)
  )
]);

/** Field names, for messages. */
export const FIELD_NAMES: readonly string[] = [
  ...[...FIELDS.keys()].filter(name => !ALIASES.has(name)),
  'in[i].shape[j]',
  'out[i].shape[j]',
  'attr.name'
];

const PART =
  /^(in|out)\[(\d{1,4})\]\.(?:(shape)(?:\[(-?\d{1,3})\])?|(dtype|name|rank))$/;

function tensorAt(
  model: IGraphModel,
  side: string,
  node: number,
  index: number
): number {
  const [offsets, list] =
    side === 'in'
      ? [model.inputOffsets, model.inputs]
      : [model.outputOffsets, model.outputs];
  const position = offsets[node] + index;
  return position < offsets[node + 1] ? list[position] : -1;
}

function dimOf(
  shape: readonly DimValue[] | null | undefined,
  axis: number
): FieldValue {
  const dim = shape?.[axis < 0 ? shape.length + axis : axis];
  return dim === undefined || dim === null
    ? null
    : typeof dim === 'string'
      ? [dim]
      : dim;
}

/**
 * A field of an input or output: `in[0].shape[1]`, `out[0].dtype`. Indices count from 0; negative axes
 * count from the end.
 */
function tensorField(match: RegExpExecArray): IField {
  const [, side, index, shape, axis, other] = match;
  const tensorOf = (tree: ITree, entity: number): number =>
    entity < tree.model.nodeCount
      ? tensorAt(tree.model, side, entity, Number(index))
      : -1;
  const shapeOf = ({ model }: ITree, tensor: number) =>
    model.payload.shapes[model.payload.tensors.shape[tensor]];
  const read = (
    type: IField['type'],
    value: (tree: ITree, tensor: number) => FieldValue
  ): IField => ({
    type,
    value: (tree, entity) => {
      const tensor = tensorOf(tree, entity);
      return tensor < 0 ? null : value(tree, tensor);
    }
  });
  if (axis !== undefined) {
    return read('size', (tree, tensor) =>
      dimOf(shapeOf(tree, tensor), Number(axis))
    );
  }
  if (shape) {
    return read('text', (tree, tensor) => {
      const dims = shapeOf(tree, tensor);
      // As shown, and without the parentheses around expressions.
      return dims
        ? [tree.model.shapeText(tensor), dims.map(dim => dim ?? '?').join('×')]
        : null;
    });
  }
  switch (other) {
    case 'rank':
      return read('number', (tree, t) => shapeOf(tree, t)?.length ?? null);
    case 'dtype':
      return read('text', ({ model }, t) => [model.dtypeText(t)]);
    default:
      return read('text', ({ model }, t) => [model.tensorName(t)]);
  }
}

/** `attr.axis`, `attr.pads[0]`. */
const ATTRIBUTE = /^attr\.([^[\]]+)(?:\[(-?\d{1,4})\])?$/;

function attributeField([, name, item]: RegExpExecArray): IField {
  const index = item === undefined ? undefined : Number(item);
  return {
    type: 'size',
    value: ({ model }, entity) =>
      entity < model.nodeCount
        ? attributeValue(model.payload, entity, name, index)
        : null
  };
}

/** The field of this name; null if there is none. */
export function fieldOf(text: string): IField | null {
  const lower = text.toLowerCase();
  const match = PART.exec(lower);
  if (match) {
    return tensorField(match);
  }
  const attribute = ATTRIBUTE.exec(lower);
  return attribute ? attributeField(attribute) : (FIELDS.get(lower) ?? null);
}
