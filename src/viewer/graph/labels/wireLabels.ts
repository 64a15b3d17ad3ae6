/**
 * Places shape labels on wires, for the screen and for exports. None touches a box, a wire or another
 * label: if the best position is taken, a label moves along its wire, to the other side or to another
 * piece; then it is shortened; then it is omitted.
 */
import { formatShape } from '../../../core/base/numberFormat';
import { BoxKind, type IScene } from '../../../core/types';
import type { IRect } from '../geometry/camera';
import { labelAnchor } from '../geometry/wirePath';
import type { SpatialIndex } from '../scene/spatialIndex';
import {
  ASCENT,
  bandsOf,
  DESCENT,
  LABEL_HEIGHT,
  type ILabelBand
} from './labelBands';
import { type IWireLabel, LabelSpace, nearestGap } from './labelSpace';
import { LABEL_SIZE } from '../style/metrics';
import type { IDrawContext } from '../draw/drawTarget';
import { cleanText } from '../text/textMeasure';

/** Margin on both sides of a text, since a font may be slightly wider than measured. */
const TEXT_MARGIN = 1.5;
/**
 * Up to this many wires, all labels are placed at once, whatever is in view, so that exports show the
 * same.
 */
const MAX_PLACED_AT_ONCE = 1000;
/** Maximum number of wires of a tensor that are tried. */
const MAX_TRIED_WIRES = 6;

/** Shorter forms of a shape: `64×56×56` for `1×64×56×56`, then `4-D`. */
export function shorterShapes(
  shape: readonly (number | string | null)[] | null | undefined
): string[] {
  if (!shape || shape.length < 2) {
    return [];
  }
  const forms: string[] = [];
  if (shape.length > 2) {
    const otherSizes = formatShape(shape.slice(1));
    forms.push(shape[0] === 1 ? otherSizes : `…×${otherSizes}`);
  }
  return [...forms, `${shape.length}-D`];
}

/** A tensor of a box, with the wires that carry it, those with most space first. */
interface IWire {
  readonly tensor: number;
  readonly edges: readonly number[];
}

export class WireLabels {
  private readonly _space: LabelSpace;
  private readonly _wires: readonly IWire[];
  /** By edge, its wire. */
  private readonly _wireOf: Int32Array;
  /** By edge. */
  private readonly _placed = new Map<number, IWireLabel>();
  private readonly _done: Uint8Array;

  constructor(
    private readonly _drawing: IDrawContext,
    index: SpatialIndex
  ) {
    const { scene } = _drawing;
    this._space = new LabelSpace(scene, index);
    this._wireOf = new Int32Array(scene.edgeCount);
    this._wires = wiresOf(scene, this._wireOf);
    this._done = new Uint8Array(this._wires.length);
  }

  /** Places the labels of these edges. Labels that are already placed stay. */
  place(edges: readonly number[]): void {
    const { scene } = this._drawing;
    const placesAll = scene.edgeCount <= MAX_PLACED_AT_ONCE;
    const toPlace = placesAll
      ? this._wires.keys()
      : [...edges].sort((a, b) => a - b).map(e => this._wireOf[e]);
    const todo: number[] = [];
    for (const wire of toPlace) {
      if (!this._done[wire]) {
        this._done[wire] = 1;
        todo.push(wire);
      }
    }
    // All best positions first, so that no label takes another's.
    for (const wire of todo.filter(
      wire => !this._placeAtBest(this._wires[wire])
    )) {
      this._placeLongest(this._wires[wire]);
    }
  }

  /** The label of an edge; null if it has none, or is not placed yet. */
  of(edge: number): IWireLabel | null {
    return this._placed.get(edge) ?? null;
  }

  /** Width of the shortest text for an edge's wire; 0 if there is none. */
  leastWidth(edge: number): number {
    const { tensor, edges } = this._wires[this._wireOf[edge]];
    const texts = this._textsOf(tensor, edges[0]);
    return texts.length > 0 ? Math.min(...texts.map(t => this._width(t))) : 0;
  }

  /** Labels that touch a rectangle. */
  in(rect: IRect): readonly IWireLabel[] {
    return this._space.labelsIn(rect);
  }

  /** True if a drawing has the same labels. */
  matches({ scene, model, measure }: IDrawContext): boolean {
    const { _drawing: drawing } = this;
    return (
      drawing.scene === scene &&
      drawing.model.shapeText === model.shapeText &&
      drawing.measure === measure
    );
  }

  private _placeAtBest({ tensor, edges }: IWire): boolean {
    const { scene } = this._drawing;
    const [edge] = edges;
    const [text] = this._textsOf(tensor, edge);
    const anchor = text ? labelAnchor(scene, edge) : null;
    if (!text || !anchor) {
      // Without a text there is nothing to place.
      return !text;
    }
    const w = this._width(text);
    if (!anchor.isBeside && w > anchor.length) {
      return false;
    }
    const x = anchor.isBeside ? anchor.x + w / 2 : anchor.x;
    const y = anchor.isBeside ? anchor.y : anchor.y - 4;
    const origin = { x: anchor.x - (anchor.isBeside ? 6 : 0), y: anchor.y };
    const label = labelAt(x, y, w, text);
    if (!this._space.isFree(label.rect, origin)) {
      return false;
    }
    this._take(edge, label);
    return true;
  }

  /** Places the longest text that fits. */
  private _placeLongest({ tensor, edges }: IWire): void {
    const { scene } = this._drawing;
    const bands = edges
      .slice(0, MAX_TRIED_WIRES)
      .flatMap(edge => bandsOf(scene, edge).map(band => ({ edge, band })));
    bands.sort((a, b) => a.band.cost - b.band.cost);
    const texts = this._textsOf(tensor, edges[0]);
    for (const text of texts) {
      for (const { edge, band } of bands) {
        const label = this._fit(band, text);
        if (label) {
          this._take(edge, label);
          return;
        }
      }
    }
  }

  /** Places the text in a band, as close to its preferred position as possible. */
  private _fit(band: ILabelBand, text: string): IWireLabel | null {
    const w = this._width(text);
    const length = band.upright ? LABEL_HEIGHT : w;
    const [low, high] = band.range(length);
    const [strip, wires] = band.strips(w);
    const spans = this._space.taken(strip, wires, band.origin, band.upright);
    const center = nearestGap(spans, length + 1, band.prefer, low, high);
    if (center === null) {
      return null;
    }
    const label = band.upright
      ? labelAt(band.centerAcross(w), center + (ASCENT - DESCENT) / 2, w, text)
      : labelAt(center, band.baseline, w, text);
    return this._space.isFree(label.rect, band.origin) ? label : null;
  }

  /**
   * Texts for a wire, best first. A wire that continues outside has its full shape or none, since the
   * other part is labelled too.
   */
  private _textsOf(tensor: number, edge: number): string[] {
    const { scene, model } = this._drawing;
    const { payload } = model;
    const weight = scene.edgeWeight[edge];
    const more = weight > 1 ? ` +${weight - 1}` : '';
    const shapeText = cleanText(model.shapeText(tensor));
    const shape = payload.shapes[payload.tensors.shape[tensor]];
    const shorter = isContinued(scene, edge) ? [] : shorterShapes(shape);
    return shapeText
      ? [shapeText, ...shorter].map(text => cleanText(text) + more)
      : [];
  }

  private _take(edge: number, label: IWireLabel): void {
    this._space.reserve(label);
    this._placed.set(edge, label);
  }

  private _width(text: string): number {
    return this._drawing.measure.width(text, LABEL_SIZE) + 2 * TEXT_MARGIN;
  }
}

function labelAt(x: number, y: number, w: number, text: string): IWireLabel {
  const [middle, base] = [Math.round(x), Math.round(y)];
  const rect = {
    x: middle - w / 2,
    y: base - ASCENT,
    w,
    h: LABEL_HEIGHT
  };
  return { x: middle, y: base, text, rect };
}

/** True if a wire continues at a port of the panel it is drawn in, at either end. */
function isContinued(scene: IScene, edge: number): boolean {
  const { boxKind, boxParent, edgeSource, edgeTarget } = scene;
  const [source, target] = [edgeSource[edge], edgeTarget[edge]];
  const within = (port: number, box: number): boolean => {
    const parent = boxParent[box];
    const panel = boxParent[port];
    return (
      boxKind[port] === BoxKind.Port &&
      panel >= 0 &&
      (parent === panel || (parent >= 0 && boxParent[parent] === panel))
    );
  };
  return within(source, target) || within(target, source);
}

function wiresOf(scene: IScene, wireOf: Int32Array): IWire[] {
  const numbers = new Map<string, number>();
  const wires: { tensor: number; edges: number[] }[] = [];
  for (let e = 0; e < scene.edgeCount; e++) {
    const tensor = scene.edgeTensor[e];
    const key = `${scene.edgeSource[e]}/${tensor}`;
    const existing = numbers.get(key);
    if (existing === undefined) {
      numbers.set(key, wires.length);
      wireOf[e] = wires.length;
      wires.push({ tensor, edges: [e] });
    } else {
      wireOf[e] = existing;
      wires[existing].edges.push(e);
    }
  }
  for (const { edges } of wires) {
    if (edges.length > 1) {
      const roomAt = new Map(
        edges.map(e => [e, labelAnchor(scene, e)?.length ?? 0] as const)
      );
      edges.sort((a, b) => roomAt.get(b)! - roomAt.get(a)! || a - b);
    }
  }
  return wires;
}

const labelCache = new WeakMap<IDrawContext, WireLabels>();

/** The labels of a drawing, computed once and shared. */
export function labelsOf(
  drawing: IDrawContext,
  index: SpatialIndex
): WireLabels {
  const cached = labelCache.get(drawing) ?? new WireLabels(drawing, index);
  labelCache.set(drawing, cached);
  return cached;
}
