/** Draws very many boxes on a canvas: all boxes in a cell of a few pixels are drawn as one. */
import type { IRect } from '../../geometry/camera';
import {
  type IAggregatedBoxes,
  aggregateBoxes,
  aggregateEdges
} from './cellAggregation';
import type { IDrawContext } from '../../draw/drawTarget';
import type { Canvas2D } from './offscreenLayer';
import type { IPalette } from '../../style/themePalette';

/** Maximum cell width in screen pixels. */
const CELL_PIXELS = 3;
const MAX_CELLS = 3e6;

interface ICellPicture {
  readonly boxes: IAggregatedBoxes;
  readonly edges: Float64Array;
}

export class AggregatedPicture {
  /** One picture per power of two of the zoom. */
  private readonly _pictures = new Map<number, ICellPicture>();

  constructor(private readonly _drawing: IDrawContext) {}

  draw(ctx: Canvas2D, k: number, rect: IRect, palette: IPalette): void {
    const { boxes, edges } = this._at(k);
    this._drawEdges(ctx, edges, k, rect, palette);
    this._drawBoxes(ctx, boxes, rect, palette);
  }

  private _drawEdges(
    ctx: Canvas2D,
    edges: Float64Array,
    k: number,
    rect: IRect,
    palette: IPalette
  ): void {
    const down = this._drawing.scene.direction === 'down';
    const right = rect.x + rect.w;
    const bottom = rect.y + rect.h;
    ctx.strokeStyle = palette.color('--oad-edge');
    ctx.lineWidth = 0.7 / k;
    ctx.beginPath();
    for (let i = 0; i < edges.length; i += 4) {
      const [x0, x1] = [edges[i], edges[i + 2]];
      const [y0, y1] = [edges[i + 1], edges[i + 3]];
      const along = down ? Math.abs(y1 - y0) : Math.abs(x1 - x0);
      if (
        Math.min(x0, x1) <= right &&
        Math.max(x0, x1) >= rect.x &&
        Math.min(y0, y1) <= bottom &&
        Math.max(y0, y1) >= rect.y &&
        along * k > 2
      ) {
        ctx.moveTo(x0, y0);
        ctx.lineTo(x1, y1);
      }
    }
    ctx.stroke();
  }

  private _drawBoxes(
    ctx: Canvas2D,
    boxes: IAggregatedBoxes,
    rect: IRect,
    palette: IPalette
  ): void {
    const right = rect.x + rect.w;
    const bottom = rect.y + rect.h;
    for (const run of boxes.runs) {
      ctx.fillStyle = palette.color(this._drawing.paint.paints[run.paint]);
      for (let i = 4 * run.from; i < 4 * run.to; i += 4) {
        const x = boxes.rects[i];
        const y = boxes.rects[i + 1];
        const w = boxes.rects[i + 2];
        if (
          x <= right &&
          x + w >= rect.x &&
          y <= bottom &&
          y + boxes.rects[i + 3] >= rect.y
        ) {
          ctx.fillRect(x, y, w, boxes.rects[i + 3]);
        }
      }
    }
  }

  private _at(k: number): ICellPicture {
    const step = Math.ceil(Math.log2(k));
    let picture = this._pictures.get(step);
    if (!picture) {
      const { scene, paint } = this._drawing;
      const cells = (scene.width * scene.height) / MAX_CELLS;
      const cell = Math.max(CELL_PIXELS / 2 ** step, Math.sqrt(cells));
      picture = {
        boxes: aggregateBoxes(scene, paint, cell, cell),
        edges: aggregateEdges(scene, cell, cell)
      };
      this._pictures.set(step, picture);
    }
    return picture;
  }
}
