/** Contents of cards: the single source for sizing, drawing and accessible names. */
import type { IGraphModel, ITree } from '../../../core/types';
import { formatCount } from '../../../core/base/numberFormat';
import { displayedEntity } from '../../../core/tree/chips';
import { chipsFor, type IChip, chipsWidth } from './chipSizes';
import {
  DEFAULT_DETAILS,
  DEFAULT_STRINGS,
  type ICardDetails,
  type ISurfaceStrings
} from '../surfaceApi';
import {
  BODY_PAD,
  BODY_SIZE,
  CHEVRON_W,
  CARD_HEADER_H,
  CARD_LINE_H,
  MAX_CARD,
  MAX_GROUP,
  MIN_CARD,
  COMPACT_CARD,
  CARD_PAD_X,
  SHARE_BAR,
  STEPPER_ARROW_W,
  TITLE_SIZE
} from '../style/metrics';
import {
  cleanText,
  pageTextMeasure,
  type TextMeasure
} from '../text/textMeasure';
import { fillTemplate } from '../text/fillTemplate';
import { ownValue } from '../../../core/base/ownValue';

export type LineKind = 'name' | 'weight' | 'cost';

export interface ICardLine {
  readonly kind: LineKind;
  readonly text: string;
}

export interface ICard {
  /** Operator type, or the group's class or label. */
  readonly title: string;
  /** Instance of a group, empty if it equals the title; for a node its short setting, `× 0.125`. */
  readonly instance: string;
  readonly category: string;
  readonly lines: readonly ICardLine[];
  /** Share of the model's MACs; NaN if unknown or none. Groups only. */
  readonly share: number;
  readonly w: number;
  /** Chips after the title of a collapsed card. */
  readonly chips: readonly IChip[];
  /** Width without the setting; equals `w` if there is none. */
  readonly baseW: number;
  readonly h: number;
}

/** Values of `tensors.kind`: 2 initializer, 3 constant. */
const INITIALIZER = 2;
const CONSTANT = 3;
const MAX_WEIGHTS = 3;

const BODY_CATEGORIES = new Set(['layer', 'normalization', 'attention']);
/** Fewer parameters than this are settings (such as the bounds of a Clip), not weights. */
const MAX_SETTING_PARAMS = 8;
const ELEMENTWISE = new Set([
  'Add',
  'Sub',
  'Mul',
  'Div',
  'Pow',
  'Where',
  'Sum'
]);

/** Names in the ONNX schema of inputs that are usually weights, by position. */
const INPUT_NAMES: Readonly<Record<string, readonly string[]>> = {
  Conv: ['X', 'W', 'B'],
  ConvTranspose: ['X', 'W', 'B'],
  ConvInteger: ['x', 'w'],
  FusedConv: ['X', 'W', 'B', 'Z'],
  NhwcFusedConv: ['X', 'W', 'B', 'Z'],
  QLinearConv: ['x', '', '', 'w', '', '', '', '', 'B'],
  QLinearMatMul: ['a', '', '', 'b'],
  QGemm: ['A', '', '', 'B', '', '', 'C'],
  Gemm: ['A', 'B', 'C'],
  MatMul: ['A', 'B'],
  MatMulInteger: ['A', 'B'],
  MatMulIntegerToFloat: ['A', 'B', '', '', '', '', 'bias'],
  DynamicQuantizeMatMul: ['A', 'B', '', '', 'bias'],
  FusedMatMul: ['A', 'B'],
  FusedGemm: ['A', 'B', 'C'],
  MatMulNBits: ['A', 'B', '', '', '', 'bias'],
  BatchNormalization: ['X', 'scale', 'B', 'mean', 'var'],
  InstanceNormalization: ['input', 'scale', 'B'],
  GroupNormalization: ['X', 'scale', 'B'],
  LayerNormalization: ['X', 'scale', 'B'],
  RMSNormalization: ['X', 'scale'],
  SimplifiedLayerNormalization: ['X', 'scale'],
  SkipLayerNormalization: ['input', 'skip', 'gamma', 'beta', 'bias'],
  SkipSimplifiedLayerNormalization: ['input', 'skip', 'gamma', 'bias'],
  EmbedLayerNormalization: [
    '',
    '',
    'word',
    'position',
    'segment',
    'gamma',
    'beta'
  ],
  Attention: ['input', 'weights', 'bias'],
  QAttention: ['input', 'weights', 'bias'],
  BiasGelu: ['A', 'B'],
  FastGelu: ['X', 'bias'],
  GatherBlockQuantized: ['data'],
  LSTM: ['X', 'W', 'R', 'B'],
  GRU: ['X', 'W', 'R', 'B'],
  RNN: ['X', 'W', 'R', 'B'],
  Gather: ['data'],
  PRelu: ['X', 'slope']
};

/** Gap between a title and the text after it. */
export const TITLE_GAP = 6;
/** Minimum width for a name after a title; with less, it is omitted. */
const MIN_NAME_ROOM = 19;

export class CardContents {
  constructor(
    private readonly _model: IGraphModel,
    private readonly _tree: ITree,
    private readonly _details: ICardDetails = DEFAULT_DETAILS,
    private readonly _strings: ISurfaceStrings = DEFAULT_STRINGS,
    private readonly _text: TextMeasure = pageTextMeasure()
  ) {
    this._totalMacs = mainGraphMacs(_model);
  }

  /** The card of a node or a group. */
  of(entity: number): ICard {
    let card = this._cache.get(entity);
    if (!card) {
      const nodes = this._model.nodeCount;
      const face = displayedEntity(this._tree, entity);
      card =
        face < nodes ? this._node(face, entity) : this._group(entity - nodes);
      this._cache.set(entity, card);
    }
    return card;
  }

  /**
   * The compact card: without the shapes of weights, and at most as wide as allowed without its setting.
   */
  short(entity: number): ICard {
    const card = this.of(entity);
    const lines = card.lines.filter(line => line.kind !== 'weight');
    const freedHeight = body(card.lines.length) - body(lines.length);
    return {
      ...card,
      lines,
      w: Math.min(card.baseW, COMPACT_CARD),
      h: card.h - freedHeight
    };
  }

  /** The form of the card that fits a box of the given height. */
  fitting(entity: number, h: number): ICard {
    const card = this.of(entity);
    return h < card.h ? this.short(entity) : card;
  }

  /** The card of a node, or of the group that prepares its inputs. */
  private _node(node: number, entity: number): ICard {
    const { _model: model, _tree: tree, _details: details, _text: text } = this;
    const group = entity - model.nodeCount;
    const title = cleanText(model.opType(node));
    const lines: ICardLine[] = [];
    const name = model.nodeName(node);
    if (details.names && name) {
      lines.push({
        kind: 'name',
        text: text.shorten(name, MAX_CARD - 2 * CARD_PAD_X, BODY_SIZE)
      });
    }
    const isHeavy = this._isHeavy(node);
    if (details.weights && isHeavy) {
      const weights = this._weights(node);
      lines.push(...weights.map(w => ({ kind: 'weight' as const, text: w })));
    }
    const { groupMetrics: sums, groupUnknown: lacks } = tree;
    const cost =
      group < 0
        ? this._cost(model.metrics.macs[node], model.metrics.params[node])
        : this._cost(
            sums.macs[group],
            sums.params[group],
            lacks.macs[group],
            lacks.params[group]
          );
    if (details.costs && isHeavy && cost) {
      lines.push({ kind: 'cost', text: cost });
    }
    const setting = settingOf(model, node);
    const settingWidth = setting
      ? TITLE_GAP + text.width(setting, BODY_SIZE)
      : 0;
    const chips = chipsFor(tree, entity, text);
    const titleWidth =
      text.width(title, TITLE_SIZE, 600) + chipsWidth(chips) + 2 * CARD_PAD_X;
    const least = Math.max(lines.length > 0 ? MIN_CARD : 0, titleWidth);
    const maxWidth = MAX_CARD + chipsWidth(chips);
    return {
      title,
      instance: setting,
      category: model.category(node),
      lines,
      chips,
      share: NaN,
      w: this._widest(
        lines,
        Math.max(least, titleWidth + settingWidth),
        maxWidth
      ),
      baseW: this._widest(lines, least, maxWidth),
      h: CARD_HEADER_H + body(lines.length)
    };
  }

  private _group(group: number): ICard {
    const { _tree: tree, _details: details, _text: text } = this;
    const label = cleanText(tree.groupLabel[group]);
    const type = cleanText(tree.groupRole[group] || tree.groupType[group]);
    const size = tree.groupSize[group];
    const macs = tree.groupMetrics.macs[group];
    const params = tree.groupMetrics.params[group];
    const lines: ICardLine[] = [
      {
        kind: 'name',
        text: fillTemplate(this._strings.nodes, formatCount(size))
      }
    ];
    const { groupUnknown: lacks } = tree;
    const cost = this._cost(
      macs,
      params,
      lacks.macs[group],
      lacks.params[group]
    );
    if (details.costs && cost) {
      lines.push({ kind: 'cost', text: cost });
    }
    const title = type || label;
    const instance = type && type !== label ? label : '';
    const chips = chipsFor(tree, tree.model.nodeCount + group, text);
    const titleWidth =
      CHEVRON_W +
      (tree.groupIsRepeat[group] ? 2 * STEPPER_ARROW_W : 0) +
      text.width(title, TITLE_SIZE, 600) +
      (instance
        ? TITLE_GAP + Math.max(MIN_NAME_ROOM, text.width(instance, BODY_SIZE))
        : 0) +
      chipsWidth(chips) +
      2 * CARD_PAD_X;
    const share = this._totalMacs > 0 ? macs / this._totalMacs : NaN;
    const least = Math.max(MIN_CARD + CHEVRON_W, titleWidth);
    const w = this._widest(lines, least, MAX_GROUP + chipsWidth(chips));
    return {
      title,
      instance,
      category: 'group',
      lines,
      chips,
      share,
      w,
      baseW: w,
      h: CARD_HEADER_H + body(lines.length) + (share > 0 ? SHARE_BAR + 2 : 0)
    };
  }

  /** `118 M MACs · 9.4 K params`; zeros are omitted, incomplete sums are lower bounds. */
  private _cost(
    macs: number,
    params: number,
    lacksMacs = 0,
    lacksParams = 0
  ): string {
    const parts: string[] = [];
    if (macs > 0) {
      parts.push((lacksMacs > 0 ? '≥ ' : '') + formatCount(macs, 'MACs'));
    }
    if (params > 0) {
      parts.push((lacksParams > 0 ? '≥ ' : '') + formatCount(params, 'params'));
    }
    return parts.join(' · ');
  }

  /** True if the card has a body; a separate bias addition stays small. */
  private _isHeavy(node: number): boolean {
    const { macs, params } = this._model.metrics;
    return (
      BODY_CATEGORIES.has(this._model.category(node)) ||
      macs[node] > 0 ||
      (params[node] >= MAX_SETTING_PARAMS &&
        !ELEMENTWISE.has(this._model.opType(node)))
    );
  }

  /** Lines such as `W 64×3×7×7`; adjacent short items share a line. */
  private _weights(node: number): string[] {
    const { _model: model } = this;
    const names = ownValue(INPUT_NAMES, model.opType(node));
    const items: string[] = [];
    const from = model.inputOffsets[node];
    for (let i = from; i < model.inputOffsets[node + 1]; i++) {
      const tensor = model.inputs[i];
      const kind = tensor < 0 ? -1 : model.tensorKind[tensor];
      if (kind === INITIALIZER || kind === CONSTANT) {
        const name = names ? names[i - from] : `in${i - from}`;
        const shape = model.shapeText(tensor);
        if (name && /\d/.test(shape)) {
          items.push(`${name} ${shape}`);
        }
      }
    }
    return this._joined(items);
  }

  private _joined(items: readonly string[]): string[] {
    const wide = 132;
    const lines: string[] = [];
    for (const item of items) {
      const last = lines[lines.length - 1];
      const together = last === undefined ? item : `${last} · ${item}`;
      if (last !== undefined && this._text.width(together, BODY_SIZE) <= wide) {
        lines[lines.length - 1] = together;
      } else {
        lines.push(
          this._text.shorten(item, MAX_CARD - 2 * CARD_PAD_X, BODY_SIZE)
        );
      }
    }
    if (lines.length > MAX_WEIGHTS) {
      const hiddenCount = lines.length - MAX_WEIGHTS;
      lines.length = MAX_WEIGHTS;
      lines[MAX_WEIGHTS - 1] += ` +${hiddenCount}`;
    }
    return lines;
  }

  private _widest(
    lines: readonly ICardLine[],
    least: number,
    maxWidth: number
  ): number {
    let w = least;
    for (const line of lines) {
      w = Math.max(
        w,
        this._text.width(line.text, BODY_SIZE, 400) + 2 * CARD_PAD_X
      );
    }
    return Math.ceil(Math.min(maxWidth, w));
  }

  private readonly _totalMacs: number;
  private readonly _cache = new Map<number, ICard>();
}

function body(lines: number): number {
  return lines > 0 ? lines * CARD_LINE_H + 2 * BODY_PAD : 0;
}

/** MACs of the main graph, as reported by the model's totals; NaN if unknown. */
export function mainGraphMacs(model: IGraphModel): number {
  const totalMacs = model.payload.metrics?.total_macs;
  return typeof totalMacs === 'number' ? totalMacs : NaN;
}

/** Scalars and other short settings of a node; empty if it has none. */
export function settingOf(model: IGraphModel, node: number): string {
  const { settings } = model.payload.nodes;
  return Object.hasOwn(settings, String(node)) ? cleanText(settings[node]) : '';
}
