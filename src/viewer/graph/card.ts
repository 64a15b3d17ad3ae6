/** What stands on a card: the one place that decides, for sizing, drawing and reading aloud. */
import type { IGraphModel, ITree } from '../../core/types';
import { formatCount } from '../../core/units';
import { faceOf } from '../../core/chips';
import { chipsFor, type IChip, roomOf } from './chipSizes';
import {
  DEFAULT_DETAILS,
  DEFAULT_STRINGS,
  type ICardDetails,
  type ISurfaceStrings
} from './api';
import {
  BODY_PAD,
  BODY_SIZE,
  CHEVRON,
  HEADER,
  LINE,
  MAX_CARD,
  MAX_GROUP,
  MIN_CARD,
  SHORT_CARD,
  PAD_X,
  SHARE_BAR,
  STEP,
  TITLE_SIZE
} from './metrics';
import { clip, pageMeasure, type TextMeasure } from './text';
import { fill } from './fillTemplate';

export type LineKind = 'name' | 'weight' | 'cost';

export interface ICardLine {
  readonly kind: LineKind;
  readonly text: string;
}

export interface ICard {
  /** Operator type, class of the group or its label. */
  readonly title: string;
  /** Instance of a group, empty where the title says it; the short setting of a node, `× 0.125`. */
  readonly instance: string;
  readonly category: string;
  readonly lines: readonly ICardLine[];
  /** Share of the model's MACs, NaN = unknown or none. Groups only. */
  readonly share: number;
  readonly w: number;
  /** What stands behind the title where it is closed. */
  readonly chips: readonly IChip[];
  /** Width without the setting; the same as `w` where there is none. */
  readonly bare: number;
  readonly h: number;
}

/** Kinds in the payload: 2 initializer, 3 constant. */
const INITIALIZER = 2;
const CONSTANT = 3;
const MOST_WEIGHTS = 3;

const HEAVY = new Set(['layer', 'normalization', 'attention']);
/** Fewer parameters than this are settings (bounds of a Clip), not weights. */
const FEW_PARAMS = 8;
const ELEMENTWISE = new Set([
  'Add',
  'Sub',
  'Mul',
  'Div',
  'Pow',
  'Where',
  'Sum'
]);

/** Letters the ONNX schema gives to inputs that are usually weights, by position. */
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

/** Between a title and what stands behind it. */
export const BESIDE = 6;
/** Room of the shortest name behind a title: with less it is left out. */
const LEAST_NAME = 19;

export class Cards {
  constructor(
    private readonly model: IGraphModel,
    private readonly tree: ITree,
    private readonly details: ICardDetails = DEFAULT_DETAILS,
    private readonly strings: ISurfaceStrings = DEFAULT_STRINGS,
    private readonly text: TextMeasure = pageMeasure()
  ) {
    this.totalMacs = totalMacs(model);
  }

  /** The card of a node or a group. */
  of(entity: number): ICard {
    let card = this.cache.get(entity);
    if (!card) {
      const nodes = this.model.nodeCount;
      const face = faceOf(this.tree, entity);
      card =
        face < nodes ? this.node(face, entity) : this.group(entity - nodes);
      this.cache.set(entity, card);
    }
    return card;
  }

  /** The card without the shapes of weights, and no wider than the short one may be without its setting. */
  short(entity: number): ICard {
    const card = this.of(entity);
    const lines = card.lines.filter(line => line.kind !== 'weight');
    const less = body(card.lines.length) - body(lines.length);
    return {
      ...card,
      lines,
      w: Math.min(card.bare, SHORT_CARD),
      h: card.h - less
    };
  }

  /** The form of the card that a box of that height is for. */
  fitting(entity: number, h: number): ICard {
    const card = this.of(entity);
    return h < card.h ? this.short(entity) : card;
  }

  /** The card of a node, or of the group of what prepares for it. */
  private node(node: number, entity: number): ICard {
    const { model, tree, details, text } = this;
    const group = entity - model.nodeCount;
    const title = clip(model.opType(node));
    const lines: ICardLine[] = [];
    const name = model.nodeName(node);
    if (details.names && name) {
      lines.push({
        kind: 'name',
        text: text.shorten(name, MAX_CARD - 2 * PAD_X, BODY_SIZE)
      });
    }
    const heavy = this.isHeavy(node);
    if (details.weights && heavy) {
      const weights = this.weights(node);
      lines.push(...weights.map(w => ({ kind: 'weight' as const, text: w })));
    }
    const { groupMetrics: sums, groupUnknown: lacks } = tree;
    const cost =
      group < 0
        ? this.cost(model.metrics.macs[node], model.metrics.params[node])
        : this.cost(
            sums.macs[group],
            sums.params[group],
            lacks.macs[group],
            lacks.params[group]
          );
    if (details.costs && heavy && cost) {
      lines.push({ kind: 'cost', text: cost });
    }
    const setting = settingOf(model, node);
    const beside = setting ? BESIDE + text.width(setting, BODY_SIZE) : 0;
    const chips = chipsFor(tree, entity, text);
    const titleWidth =
      text.width(title, TITLE_SIZE, 600) + roomOf(chips) + 2 * PAD_X;
    const least = Math.max(lines.length > 0 ? MIN_CARD : 0, titleWidth);
    const most = MAX_CARD + roomOf(chips);
    return {
      title,
      instance: setting,
      category: model.category(node),
      lines,
      chips,
      share: NaN,
      w: this.widest(lines, Math.max(least, titleWidth + beside), most),
      bare: this.widest(lines, least, most),
      h: HEADER + body(lines.length)
    };
  }

  private group(group: number): ICard {
    const { tree, details, text } = this;
    const label = clip(tree.groupLabel[group]);
    const type = clip(tree.groupType[group] || tree.groupRole[group]);
    const size = tree.groupSize[group];
    const macs = tree.groupMetrics.macs[group];
    const params = tree.groupMetrics.params[group];
    const lines: ICardLine[] = [
      {
        kind: 'name',
        text: fill(this.strings.nodes, formatCount(size))
      }
    ];
    const { groupUnknown: lacks } = tree;
    const cost = this.cost(
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
      CHEVRON +
      (tree.groupFold[group] ? 2 * STEP : 0) +
      text.width(title, TITLE_SIZE, 600) +
      (instance
        ? BESIDE + Math.max(LEAST_NAME, text.width(instance, BODY_SIZE))
        : 0) +
      roomOf(chips) +
      2 * PAD_X;
    const share = this.totalMacs > 0 ? macs / this.totalMacs : NaN;
    const least = Math.max(MIN_CARD + CHEVRON, titleWidth);
    const w = this.widest(lines, least, MAX_GROUP + roomOf(chips));
    return {
      title,
      instance,
      category: 'group',
      lines,
      chips,
      share,
      w,
      bare: w,
      h: HEADER + body(lines.length) + (share > 0 ? SHARE_BAR + 2 : 0)
    };
  }

  /** `118 M MACs · 9.4 K params`; what is zero is left out, a sum that lacks parts is a lower bound. */
  private cost(
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

  /** Whether the card has a body: a bias added on its own stays small. */
  private isHeavy(node: number): boolean {
    const { macs, params } = this.model.metrics;
    return (
      HEAVY.has(this.model.category(node)) ||
      macs[node] > 0 ||
      (params[node] >= FEW_PARAMS && !ELEMENTWISE.has(this.model.opType(node)))
    );
  }

  /** Lines `W 64×3×7×7`; short neighbours share a line. */
  private weights(node: number): string[] {
    const { model } = this;
    const names = INPUT_NAMES[model.opType(node)];
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
    return this.joined(items);
  }

  private joined(items: readonly string[]): string[] {
    const wide = 132;
    const lines: string[] = [];
    for (const item of items) {
      const last = lines[lines.length - 1];
      const together = last === undefined ? item : `${last} · ${item}`;
      if (last !== undefined && this.text.width(together, BODY_SIZE) <= wide) {
        lines[lines.length - 1] = together;
      } else {
        lines.push(this.text.shorten(item, MAX_CARD - 2 * PAD_X, BODY_SIZE));
      }
    }
    if (lines.length > MOST_WEIGHTS) {
      const rest = lines.length - MOST_WEIGHTS;
      lines.length = MOST_WEIGHTS;
      lines[MOST_WEIGHTS - 1] += ` +${rest}`;
    }
    return lines;
  }

  private widest(
    lines: readonly ICardLine[],
    least: number,
    most: number
  ): number {
    let w = least;
    for (const line of lines) {
      w = Math.max(w, this.text.width(line.text, BODY_SIZE, 400) + 2 * PAD_X);
    }
    return Math.ceil(Math.min(most, w));
  }

  private readonly totalMacs: number;
  private readonly cache = new Map<number, ICard>();
}

function body(lines: number): number {
  return lines > 0 ? lines * LINE + 2 * BODY_PAD : 0;
}

/** MACs of the main graph and its groups: the sum over the top level, unknown parts left out. */
export function totalMacs(model: IGraphModel): number {
  const known = model.payload.metrics?.total_macs;
  return typeof known === 'number' ? known : NaN;
}

/** The scalars and short settings of a node, empty where it has none. */
export function settingOf(model: IGraphModel, node: number): string {
  const { settings } = model.payload.nodes;
  return Object.hasOwn(settings, String(node)) ? clip(settings[node]) : '';
}
