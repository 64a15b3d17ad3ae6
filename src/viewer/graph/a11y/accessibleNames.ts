/** Accessible names and tooltips of boxes and tensors. */
import {
  type ITensorRef,
  pillTensorRef,
  pillText,
  tensorIdsOf
} from '../../../core/tree/tensorSeries';
import { BoxKind, type IGraphModel, type ITree } from '../../../core/types';
import {
  formatCount,
  formatShare,
  UNKNOWN
} from '../../../core/base/numberFormat';
import { DEFAULT_STRINGS, type ISurfaceStrings } from '../surfaceApi';
import { chipText } from '../../../core/tree/chips';
import { chipsOn } from '../draw/drawChips';
import type { IDrawContext } from '../draw/drawTarget';
import { cleanText } from '../text/textMeasure';
import { fillTemplate } from '../text/fillTemplate';
import { mainGraphMacs, settingOf } from '../cards/cardContents';

/** Accessible name of an entity: `Conv conv1, 7×7, 118 M MACs, 9.4 K params`. */
export function entityDescription(
  model: IGraphModel,
  tree: ITree,
  entity: number,
  strings: ISurfaceStrings = DEFAULT_STRINGS
): string {
  const isNode = entity < model.nodeCount;
  const row = isNode ? entity : entity - model.nodeCount;
  const { macs, params } = isNode ? model.metrics : tree.groupMetrics;
  const head = isNode
    ? [model.opType(row), model.nodeName(row)]
    : [tree.groupRole[row] || tree.groupType[row], tree.groupLabel[row]];
  const least = (id: 'macs' | 'params') =>
    !isNode && tree.groupUnknown[id][row] > 0 ? '≥ ' : '';
  const parts = [cleanText(head.filter(text => text).join(' '))];
  const setting = isNode ? settingOf(model, row) : '';
  if (setting) {
    parts.push(setting);
  }
  if (!isNode) {
    parts.push(
      strings.group,
      fillTemplate(strings.nodes, String(tree.groupSize[row]))
    );
    const share = macs[row] / mainGraphMacs(model);
    if (share > 0) {
      parts.push(fillTemplate(strings.share, formatShare(share)));
    }
  }
  if (Number.isNaN(macs[row])) {
    parts.push(`MACs ${strings.unknown}`);
  } else if (macs[row] > 0) {
    parts.push(least('macs') + formatCount(macs[row], 'MACs'));
  }
  if (params[row] > 0) {
    parts.push(least('params') + formatCount(params[row], 'params'));
  }
  return parts.join(', ');
}

/** Appends the overlay's value, unless the text already has it. */
function withOverlayValue(
  d: IDrawContext,
  entity: number,
  text: string
): string {
  const painted = d.paint.overlay?.text?.(entity) ?? '';
  return painted === '' || painted === UNKNOWN || text.includes(painted)
    ? text
    : `${text}, ${painted}`;
}

/** A node's name within a sentence: `Conv conv1`. */
function nodeText(model: IGraphModel, node: number): string {
  return cleanText(`${model.opType(node)} ${model.nodeName(node)}`.trim());
}

/** `from Where mask`, `from 6 nodes`, `from Input ids`; empty if unknown. */
function endText(
  model: IGraphModel,
  nodes: ReadonlySet<number>,
  sentence: string,
  strings: ISurfaceStrings,
  otherwise: string
): string {
  const [first] = nodes;
  const end =
    nodes.size > 1
      ? fillTemplate(strings.nodes, formatCount(nodes.size))
      : first === undefined
        ? otherwise
        : nodeText(model, first);
  return end && fillTemplate(sentence, end);
}

/**
 * Texts of tensors, cached by tree: a tensor with thousands of readers has a connector at each of them.
 */
const tensorTexts = new WeakMap<
  ITree,
  { readonly strings: ISurfaceStrings; readonly texts: Map<string, string> }
>();

/** Tooltip of a wire or a connector: its name and both ends. */
export function tensorTooltip(
  d: IDrawContext,
  ref: ITensorRef,
  strings: ISurfaceStrings
): string {
  let cached = tensorTexts.get(d.tree);
  if (cached?.strings !== strings) {
    cached = { strings, texts: new Map() };
    tensorTexts.set(d.tree, cached);
  }
  const key = `${ref.kind} ${ref.id}`;
  const text = cached.texts.get(key) ?? describeTensors(d, ref, strings);
  cached.texts.set(key, text);
  return text;
}

/**
 * Describes tensors with their source and destinations, as a wire shows them: `Tensor mask, 1×1×16×16,
 * from Where mask, to 12 nodes`.
 */
function describeTensors(
  { model, tree }: IDrawContext,
  ref: ITensorRef,
  strings: ISurfaceStrings
): string {
  const producers = new Set<number>();
  const readers = new Set<number>();
  for (const tensor of tensorIdsOf(tree.series, ref)) {
    if (model.tensorProducer[tensor] >= 0) {
      producers.add(model.tensorProducer[tensor]);
    }
    const end = model.consumerOffsets[tensor + 1];
    for (let k = model.consumerOffsets[tensor]; k < end; k++) {
      readers.add(model.consumers[k]);
    }
  }
  const { tensors } = model.payload;
  const isInput = tensors.inputs.includes(ref.id);
  const isOutput = tensors.outputs.includes(ref.id);
  const name =
    ref.kind === 'series' ? pillText(tree, ref.id) : model.tensorName(ref.id);
  return [
    `${strings.tensor} ${cleanText(name)}`,
    cleanText(model.shapeText(ref.id)),
    endText(
      model,
      producers,
      strings.from,
      strings,
      isInput ? strings.input : ''
    ),
    endText(model, readers, strings.to, strings, isOutput ? strings.output : '')
  ]
    .filter(text => text)
    .join(', ');
}

/** Accessible name of a box. */
export function boxDescription(
  d: IDrawContext,
  box: number,
  strings: ISurfaceStrings
): string {
  const { scene, model, tree } = d;
  const entity = scene.boxEntity[box];
  switch (scene.boxKind[box]) {
    case BoxKind.Node:
    case BoxKind.Group:
    case BoxKind.OpenGroup: {
      const chips = chipsOn(d, box).map(group => chipText(tree, group));
      const texts = [
        withOverlayValue(
          d,
          entity,
          entityDescription(model, tree, entity, strings)
        ),
        chips.length > 0 ? fillTemplate(strings.prepared, chips.join(', ')) : ''
      ];
      return texts.filter(text => text).join(', ');
    }
    case BoxKind.Input:
    case BoxKind.Output: {
      const isInput = scene.boxKind[box] === BoxKind.Input;
      const series = tree.series.get(entity);
      const shape = cleanText(model.shapeText(entity));
      if (series) {
        const many = isInput ? strings.inputs : strings.outputs;
        const count = String(series.members.length);
        return `${fillTemplate(many, count)}: ${cleanText(series.pattern)}, ${shape}`;
      }
      const word = isInput ? strings.input : strings.output;
      return `${word} ${cleanText(model.tensorName(entity))}, ${shape}`;
    }
    default:
      return tensorTooltip(d, pillTensorRef(tree.series, entity), strings);
  }
}
