/** Colours of boxes: tokens `--oad-…` (resolved by CSS or the palette) or CSS colours. */
import {
  BoxKind,
  type IGraphModel,
  type IScene,
  type ITree
} from '../../../core/types';
import type { IOverlay, IWireLook } from '../surfaceApi';
import { ownValue } from '../../../core/base/ownValue';

export type ColorToken = string;

/** Categories with their own colour; all others use `other`. */
export const CATEGORIES = [
  'layer',
  'activation',
  'pool',
  'shape',
  'transform',
  'normalization',
  'tensor',
  'attention',
  'quantization',
  'control',
  'group',
  'other'
] as const;

/** The payload's categories that share the colour of another. */
const SAME_AS: Readonly<Record<string, string>> = {
  data: 'tensor',
  dropout: 'normalization',
  signal: 'transform',
  reduce: 'pool',
  ml: 'layer',
  sequence: 'control'
};

const KNOWN = new Set<string>(CATEGORIES);

export function categoryColorToken(category: string): ColorToken {
  const name = ownValue(SAME_AS, category) ?? category;
  return `--oad-cat-${KNOWN.has(name) ? name : 'other'}`;
}

/** All tokens that a canvas needs, so that a theme change can resolve them in one pass. */
export const TOKENS: readonly string[] = [
  ...CATEGORIES.map(c => `--oad-cat-${c}`),
  '--oad-ground',
  '--oad-card',
  '--oad-card-unknown',
  '--oad-card-zero',
  '--oad-border',
  '--oad-panel',
  '--oad-panel-border',
  '--oad-text',
  '--oad-text-quiet',
  '--oad-on-category',
  '--oad-edge',
  '--oad-pill',
  '--oad-pill-border',
  '--oad-accent',
  '--oad-hit',
  '--oad-share'
];

/** Number of ramp steps: few enough to batch, fine enough to read. */
const STEPS = 63;

/** Colours of a scene's boxes under one overlay. */
export class BoxColors {
  constructor(
    readonly scene: IScene,
    private readonly _model: IGraphModel,
    readonly overlay: IOverlay | null,
    /** Groups with a main node (`groupMain`) get its colour. */
    private readonly _tree: Pick<ITree, 'groupMain'> | null = null
  ) {
    this._index = new Int16Array(scene.boxCount).fill(-1);
  }

  /** The colour of a box at low zoom. */
  fill(box: number): ColorToken {
    return this.paints[this.fillIndex(box)];
  }

  /** Index of the box's colour in `paints`; boxes of the same colour share it. */
  fillIndex(box: number): number {
    let i = this._index[box];
    if (i < 0) {
      i = this._intern(this.overlayColor(box) ?? this.categoryColor(box));
      this._index[box] = i;
    }
    return i;
  }

  /** The category's colour; under an overlay it is reduced to the left edge. */
  categoryColor(box: number): ColorToken {
    const entity = this.scene.boxEntity[box];
    switch (this.scene.boxKind[box]) {
      case BoxKind.Node:
        return categoryColorToken(this._model.category(entity));
      case BoxKind.Group: {
        const main =
          this._tree?.groupMain[entity - this._model.nodeCount] ?? -1;
        return main < 0
          ? '--oad-cat-group'
          : categoryColorToken(this._model.category(main));
      }
      case BoxKind.OpenGroup:
        return '--oad-panel';
      case BoxKind.Port:
        return '--oad-edge';
      default:
        return '--oad-pill';
    }
  }

  /**
   * The overlay's colour; null if it has none. Zero is not on the ramp: a node without cost is a plain
   * card, so that costly ones stand out.
   */
  overlayColor(box: number): ColorToken | null {
    const value = this._value(box);
    if (value === null) {
      return null;
    }
    if (Number.isNaN(value)) {
      return '--oad-card-unknown';
    }
    return value > 0 ? this.overlay!.color(quantise(value)) : '--oad-card-zero';
  }

  /** Text colour on the overlay's colour. */
  overlayTextColor(box: number): ColorToken {
    if (this.ghost(box)) {
      return '--oad-text';
    }
    const value = this._value(box);
    return value !== null && value > 0
      ? this.overlay!.textColor(quantise(value))
      : '--oad-text';
  }

  /** True if the box is drawn as an outline only. */
  ghost(box: number): boolean {
    return this._stateColor(box, this.overlay?.ghost) ?? false;
  }

  /** Sign in a corner of the card; empty for none. */
  sign(box: number): string {
    return this._stateColor(box, this.overlay?.sign) ?? '';
  }

  /** Style of an edge that differs from the others; null for the default. */
  wire(edge: number): IWireLook | null {
    return this.overlay?.wire?.(edge) ?? null;
  }

  private _stateColor<T>(
    box: number,
    colorOf: ((entity: number) => T) | undefined
  ): T | null {
    const kind = this.scene.boxKind[box];
    return colorOf && (kind === BoxKind.Node || kind === BoxKind.Group)
      ? colorOf(this.scene.boxEntity[box])
      : null;
  }

  private _value(box: number): number | null {
    const kind = this.scene.boxKind[box];
    if (!this.overlay || (kind !== BoxKind.Node && kind !== BoxKind.Group)) {
      return null;
    }
    return this.overlay.value(this.scene.boxEntity[box]);
  }

  private _intern(paint: ColorToken): number {
    let i = this._byPaint.get(paint);
    if (i === undefined) {
      i = this.paints.length;
      this.paints.push(paint);
      this._byPaint.set(paint, i);
    }
    return i;
  }

  readonly paints: ColorToken[] = [];
  private readonly _byPaint = new Map<ColorToken, number>();
  private readonly _index: Int16Array;
}

function quantise(value: number): number {
  return Math.round(Math.min(1, Math.max(0, value)) * STEPS) / STEPS;
}
