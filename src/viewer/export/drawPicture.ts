/** Draws a part of the scene into a target, with the same primitives as on the screen. */
import { pillText } from '../../core/tree/tensorSeries';
import { BoxKind, type IScene } from '../../core/types';
import { drawBox } from '../graph/draw/drawBox';
import { boxRect, type IRect } from '../graph/geometry/camera';
import {
  edgePath,
  portPoints,
  returnArrowheadPath
} from '../graph/geometry/wirePath';
import type { SpatialIndex } from '../graph/scene/spatialIndex';
import { labelsOf } from '../graph/labels/wireLabels';
import {
  CANVAS_MAX_ZOOM,
  LABELS_FROM,
  lodOf
} from '../graph/style/levelOfDetail';
import { LABEL_SIZE, CARD_PAD_X } from '../graph/style/metrics';
import { drawGroupPanel } from '../graph/draw/drawGroupPanel';
import type {
  IDrawContext,
  IShape,
  IDrawTarget,
  ITextStyle
} from '../graph/draw/drawTarget';
import { titleRoom } from '../graph/draw/titleRoom';
import { wireWidth } from '../graph/geometry/wireWidth';
import type { IPageTarget } from './pageTarget';

export interface IPicture {
  readonly drawing: IDrawContext;
  readonly index: SpatialIndex;
  /** In world units. */
  readonly region: IRect;
  /** Page pixels per world unit; determines the level of detail, as the zoom does on the screen. */
  readonly k: number;
  /** Boxes to draw; null for all in the region. */
  readonly only: ReadonlySet<number> | null;
}

/** Diameter of the dot where a wire meets a box. */
const DOT = 4.5;
/** World units by which decorations exceed their boxes: stacks, strokes, labels. */
const OVERHANG = 24;

/**
 * The zoom that determines the level of detail: where the screen would use a canvas, a file uses the
 * simplest elements.
 */
function detailOf(k: number): number {
  return Math.max(k, CANVAS_MAX_ZOOM + 0.001);
}

/** Draws the contents of `region`, in world units. */
export function drawPicture(
  picture: IPicture,
  target: IPageTarget,
  region: IRect = picture.region
): void {
  const { index, only, drawing } = picture;
  const drawnArea = expandRect(region, OVERHANG);
  const { scene } = drawing;
  const boxes = index
    .boxesIn(drawnArea)
    .filter(box => !only || only.has(box))
    .sort((a, b) => a - b);
  const isPanel = (box: number): boolean =>
    scene.boxKind[box] === BoxKind.OpenGroup;
  const edges = index
    .edgesIn(drawnArea)
    .filter(
      edge =>
        !only ||
        (only.has(scene.edgeSource[edge]) && only.has(scene.edgeTarget[edge]))
    )
    .sort((a, b) => a - b);
  for (const box of boxes.filter(isPanel)) {
    drawPanel(picture, box, target);
  }
  for (const edge of edges) {
    drawWire(picture, edge, target);
  }
  if (picture.k >= LABELS_FROM) {
    drawLabels(drawing, index, edges, target);
  }
  for (const box of boxes) {
    if (!isPanel(box)) {
      const k = detailOf(picture.k);
      drawPlaced(drawing, box, target);
      drawBox(drawing, box, k, lodOf(k), target);
      target.pop();
    }
  }
}

/** The boxes of the entities with their contents, and the bounding rectangle of all. */
export function selectionOf(
  scene: IScene,
  boxes: readonly number[]
): { only: Set<number>; region: IRect } | null {
  const only = new Set(boxes.filter(box => box >= 0));
  if (only.size === 0) {
    return null;
  }
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  // Parents come before their children.
  for (let box = 0; box < scene.boxCount; box++) {
    if (only.has(scene.boxParent[box])) {
      only.add(box);
    }
    if (only.has(box)) {
      const { x, y, w, h } = boxRect(scene, box);
      [left, top] = [Math.min(left, x), Math.min(top, y)];
      [right, bottom] = [Math.max(right, x + w), Math.max(bottom, y + h)];
    }
  }
  const region = { x: left, y: top, w: right - left, h: bottom - top };
  return { only, region: expandRect(region, 8) };
}

/** The whole scene, including the strokes at its border. */
export function wholeSceneRect(scene: IScene): IRect {
  return expandRect({ x: 0, y: 0, w: scene.width, h: scene.height }, 2);
}

function expandRect(rect: IRect, by: number): IRect {
  return {
    x: rect.x - by,
    y: rect.y - by,
    w: rect.w + 2 * by,
    h: rect.h + 2 * by
  };
}

function drawPlaced(
  { scene, model, tree }: IDrawContext,
  box: number,
  target: IPageTarget
): void {
  const entity = scene.boxEntity[box];
  const kind = scene.boxKind[box];
  const name =
    kind === BoxKind.Node
      ? model.nodeName(entity)
      : kind === BoxKind.Group || kind === BoxKind.OpenGroup
        ? [
            ...tree.path(entity),
            tree.groupLabel[entity - model.nodeCount]
          ].join('/')
        : kind === BoxKind.Port
          ? ''
          : pillText(tree, entity);
  target.push(scene.boxX[box], scene.boxY[box], 1, name);
}

/** A panel whose left end lies outside the region shows its title inside, as on the screen. */
function drawPanel(picture: IPicture, box: number, target: IPageTarget): void {
  const { drawing, region } = picture;
  const { scene } = drawing;
  const k = detailOf(picture.k);
  const lod = lodOf(k);
  const extent = drawGroupPanel(drawing, box, k, lod, NO_TARGET);
  const maxShift = Math.max(0, titleRoom(scene, box) - extent - CARD_PAD_X);
  const shift = Math.min(maxShift, Math.max(0, region.x - scene.boxX[box]));
  drawPlaced(drawing, box, target);
  drawGroupPanel(
    drawing,
    box,
    k,
    lod,
    shift > 0 ? new OffsetTarget(target, shift) : target
  );
  target.pop();
}

function drawWire(picture: IPicture, edge: number, target: IDrawTarget): void {
  const { scene, paint } = picture.drawing;
  const look = paint.wire(edge);
  const stroke = look?.color ?? '--oad-edge';
  const k = detailOf(picture.k);
  const width = wireWidth(scene.edgeWeight[edge], k);
  const line = edgePath(scene, edge) + returnArrowheadPath(scene, edge);
  target.path(line, { stroke, width, dash: look?.dash });
  const ports = portPoints(scene, edge);
  for (let i = 0; i < ports.length; i += 2) {
    const [x, y] = [ports[i] - DOT / 2, ports[i + 1] - DOT / 2];
    target.rect(x, y, DOT, DOT, DOT / 2, { fill: stroke });
  }
}

function drawLabels(
  drawing: IDrawContext,
  index: SpatialIndex,
  edges: readonly number[],
  target: IDrawTarget
): void {
  const texts = labelsOf(drawing, index);
  texts.place(edges);
  for (const edge of edges) {
    const label = texts.of(edge);
    if (label) {
      target.text(label.x, label.y, label.text, {
        size: LABEL_SIZE,
        fill: '--oad-text-quiet',
        anchor: 'middle'
      });
    }
  }
}

const NO_TARGET: IDrawTarget = {
  rect: () => undefined,
  path: () => undefined,
  text: () => undefined
};

/** Moves everything except the first primitive, which is the panel itself. */
class OffsetTarget implements IDrawTarget {
  private _first = true;

  constructor(
    private readonly _sink: IPageTarget,
    private readonly _by: number
  ) {}

  rect(
    x: number,
    y: number,
    w: number,
    h: number,
    r: number,
    shape: IShape
  ): void {
    this._sink.rect(this._first ? x : x + this._by, y, w, h, r, shape);
    this._first = false;
  }

  path(d: string, shape: IShape): void {
    this._sink.push(this._by, 0, 1);
    this._sink.path(d, shape);
    this._sink.pop();
  }

  text(x: number, y: number, text: string, style: ITextStyle): void {
    this._sink.text(x + this._by, y, text, style);
  }
}
