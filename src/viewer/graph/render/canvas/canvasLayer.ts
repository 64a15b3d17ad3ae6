/** Draws the graph at low zoom on a canvas: plain boxes, wires in one stroke, titles of groups. */
import type { ITraceHighlight } from '../../../../core/trace/traceHighlight';
import { BoxKind } from '../../../../core/types';
import type { ICamera, IWireLook } from '../../surfaceApi';
import {
  boxRect,
  intersects,
  type IRect,
  type IViewSize,
  visibleRect
} from '../../geometry/camera';
import {
  handleLength,
  isAcross,
  returnArrowheads
} from '../../geometry/wirePath';
import type { SpatialIndex } from '../../scene/spatialIndex';
import { Lod, lodOf } from '../../style/levelOfDetail';
import { AggregatedPicture } from './aggregatedPicture';
import type { IDrawContext } from '../../draw/drawTarget';
import type { Canvas2D } from './offscreenLayer';
import type { IPalette } from '../../style/themePalette';
import { drawTitles } from './canvasTitles';

/** Above this many boxes in view they are aggregated; fewer are fast to draw individually. */
const MAX_BOXES = 5000;
/** Curves that are flatter than this on the screen are drawn as straight lines. */
const STRAIGHT_BELOW = 5;

/** Half the height of an arrowhead on a wire that runs back to the next row, in screen pixels. */
const ARROW_HEAD = 3;

/** Screen pixels per unit of a wire's dashes at low zoom. */
const DASH_PX = 0.6;

/** Highlighted boxes at low zoom. */
export interface ICanvasMarks {
  readonly hits: ReadonlySet<number>;
}

/** The visible part of the world, and the canvas pixels per screen pixel. */
export interface ICanvasFrame {
  readonly camera: ICamera;
  readonly view: IViewSize;
  /** Screen pixels drawn beyond each side of the view. */
  readonly margin: number;
  readonly dpr: number;
}

/** Opacity of everything outside a trace. */
const DIMMED = 0.18;

/** Draws open arrowheads of three points each. */
function drawHeads(ctx: Canvas2D, heads: readonly number[]): void {
  for (let i = 0; i < heads.length; i += 6) {
    ctx.moveTo(heads[i], heads[i + 1]);
    ctx.lineTo(heads[i + 2], heads[i + 3]);
    ctx.lineTo(heads[i + 4], heads[i + 5]);
  }
}

export class CanvasLayer {
  /** Boxes and wires of a trace; null if there is none. */
  highlight: ITraceHighlight | null = null;
  private _drawing: IDrawContext | null = null;
  private _index: SpatialIndex | null = null;
  /** Open and collapsed groups, parents first. */
  private _groups: number[] = [];
  private _aggregated: AggregatedPicture | null = null;

  setDrawing(drawing: IDrawContext, index: SpatialIndex): void {
    this._drawing = drawing;
    this._index = index;
    this._aggregated = new AggregatedPicture(drawing);
    this._groups = [];
    for (let b = 0; b < drawing.scene.boxCount; b++) {
      const kind = this._kind(b);
      if (kind === BoxKind.Group || kind === BoxKind.OpenGroup) {
        this._groups.push(b);
      }
    }
  }

  draw(
    ctx: Canvas2D,
    { camera, view: size, margin, dpr }: ICanvasFrame,
    palette: IPalette,
    marks: ICanvasMarks
  ): void {
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.clearRect(0, 0, ctx.canvas.width, ctx.canvas.height);
    if (!this._drawing || !this._index) {
      return;
    }
    const view = { w: size.w + 2 * margin, h: size.h + 2 * margin };
    const k = camera.k * dpr;
    const dx = (view.w / 2) * dpr - camera.x * k;
    const dy = (view.h / 2) * dpr - camera.y * k;
    ctx.setTransform(k, 0, 0, k, dx, dy);
    const rect = visibleRect(camera, view, 8);
    const crowded =
      lodOf(camera.k) === Lod.Aggregated &&
      this._index.countBoxes(rect) > MAX_BOXES;
    const visible = crowded
      ? this._groups.filter(b => this._isLarge(b, camera.k, rect))
      : this._index.boxesIn(rect);
    this._drawPanels(ctx, visible, camera.k, palette);
    ctx.globalAlpha = this.highlight ? DIMMED : 1;
    if (crowded) {
      this._aggregated?.draw(ctx, camera.k, rect, palette);
    } else {
      const looks = new Map<IWireLook | null, number[]>();
      for (const edge of this._index.edgesIn(rect)) {
        const look = this._drawing.paint.wire(edge);
        looks.set(look, looks.get(look) ?? []);
        looks.get(look)!.push(edge);
      }
      for (const [look, edges] of looks) {
        this._drawEdges(ctx, edges, camera.k, palette, look?.color, look?.dash);
      }
      this._drawBoxes(ctx, visible, camera.k, palette);
    }
    ctx.globalAlpha = 1;
    this._drawHighlight(ctx, rect, camera.k, palette);
    this._drawHits(ctx, rect, camera.k, palette, marks);
    ctx.setTransform(dpr, 0, 0, dpr, 0, 0);
    const { _drawing: drawing, _index: index } = this;
    const edge = margin + 2;
    drawTitles(ctx, { drawing, index, camera, view, edge, palette }, visible);
  }

  private _kind(box: number): BoxKind {
    return this._drawing!.scene.boxKind[box];
  }

  /** Draws the members of a trace over the rest. */
  private _drawHighlight(
    ctx: Canvas2D,
    rect: IRect,
    k: number,
    palette: IPalette
  ): void {
    const { highlight, _index: index } = this;
    if (highlight && index) {
      const edges = index.edgesIn(rect).filter(e => highlight.edges[e]);
      this._drawEdges(ctx, edges, k, palette, '--oad-accent');
      const boxes = index.boxesIn(rect).filter(b => highlight.boxes[b]);
      this._drawBoxes(ctx, boxes, k, palette);
    }
  }

  /** True for a group in view that is large enough to be seen. */
  private _isLarge(box: number, k: number, rect: IRect): boolean {
    const { scene } = this._drawing!;
    return scene.boxW[box] * k > 3 && intersects(boxRect(scene, box), rect);
  }

  private _drawPanels(
    ctx: Canvas2D,
    visible: readonly number[],
    k: number,
    palette: IPalette
  ): void {
    const { scene } = this._drawing!;
    const panels = visible.filter(
      b => this._kind(b) === BoxKind.OpenGroup && scene.boxW[b] * k > 3
    );
    ctx.fillStyle = palette.color('--oad-panel');
    ctx.strokeStyle = palette.color('--oad-panel-border');
    ctx.lineWidth = 1 / k;
    for (const b of panels.sort((x, y) => x - y)) {
      ctx.fillRect(scene.boxX[b], scene.boxY[b], scene.boxW[b], scene.boxH[b]);
      ctx.strokeRect(
        scene.boxX[b],
        scene.boxY[b],
        scene.boxW[b],
        scene.boxH[b]
      );
    }
  }

  private _drawEdges(
    ctx: Canvas2D,
    edges: readonly number[],
    k: number,
    palette: IPalette,
    color = '--oad-edge',
    dash: readonly number[] = []
  ): void {
    const { scene } = this._drawing!;
    const p = scene.edgePoints;
    ctx.setLineDash(dash.map(dashLength => (dashLength * DASH_PX) / k));
    ctx.strokeStyle = palette.color(color);
    ctx.lineWidth = Math.max(1.25, 0.8 / k);
    ctx.beginPath();
    const down = scene.direction === 'down';
    for (const e of edges) {
      const from = scene.edgeOffsets[e];
      const to = scene.edgeOffsets[e + 1];
      ctx.moveTo(p[2 * from], p[2 * from + 1]);
      for (let i = from; i + 1 < to; i++) {
        const x0 = p[2 * i];
        const y0 = p[2 * i + 1];
        const x1 = p[2 * i + 2];
        const y1 = p[2 * i + 3];
        const along = down ? y1 - y0 : x1 - x0;
        const across = down ? x1 - x0 : y1 - y0;
        // A piece straight across belongs to a lane along its level.
        if (Math.abs(across) * k < STRAIGHT_BELOW || isAcross(along)) {
          ctx.lineTo(x1, y1);
        } else if (down) {
          const reach = handleLength(y0, y1);
          ctx.bezierCurveTo(x0, y0 + reach, x1, y1 - reach, x1, y1);
        } else {
          const reach = handleLength(x0, x1);
          ctx.bezierCurveTo(x0 + reach, y0, x1 - reach, y1, x1, y1);
        }
      }
      if (scene.inRows) {
        drawHeads(ctx, returnArrowheads(scene, e, ARROW_HEAD / k));
      }
    }
    ctx.stroke();
    ctx.setLineDash([]);
  }

  private _drawBoxes(
    ctx: Canvas2D,
    visible: readonly number[],
    k: number,
    palette: IPalette
  ): void {
    const { scene, paint } = this._drawing!;
    const buckets: number[][] = [];
    for (const b of visible) {
      const kind = this._kind(b);
      if (kind !== BoxKind.OpenGroup && kind !== BoxKind.Port) {
        (buckets[paint.fillIndex(b)] ??= []).push(b);
      }
    }
    const least = 1.2 / k;
    buckets.forEach((boxes, i) => {
      ctx.fillStyle = palette.color(paint.paints[i]);
      for (const b of boxes) {
        const w = Math.max(least, scene.boxW[b]);
        ctx.fillRect(
          scene.boxX[b],
          scene.boxY[b],
          w,
          Math.max(least, scene.boxH[b])
        );
      }
    });
  }

  private _drawHits(
    ctx: Canvas2D,
    rect: IRect,
    k: number,
    palette: IPalette,
    marks: ICanvasMarks
  ): void {
    const { scene } = this._drawing!;
    const grow = 3 / k;
    ctx.strokeStyle = palette.color('--oad-hit');
    ctx.lineWidth = 2.5 / k;
    ctx.beginPath();
    for (const b of marks.hits) {
      const r = boxRect(scene, b);
      if (intersects(r, rect)) {
        ctx.rect(r.x - grow, r.y - grow, r.w + 2 * grow, r.h + 2 * grow);
      }
    }
    ctx.stroke();
  }
}
