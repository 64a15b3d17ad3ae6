/** Very many boxes on a canvas: what falls into one cell of a few pixels is drawn once. */
import type { IRect } from './camera';
import { type IMerged, mergeBoxes, mergeEdges } from './merge';
import type { IDrawing } from './primitives';
import type { Pen } from './sheet';
import type { IPalette } from './theme';

/** Cells are at most this many screen pixels wide. */
const CELL_PIXELS = 3;
const MOST_CELLS = 3e6;

interface IPicture {
  readonly boxes: IMerged;
  readonly edges: Float64Array;
}

export class MergedPicture {
  /** One for each power of two of the zoom. */
  private readonly pictures = new Map<number, IPicture>();

  constructor(private readonly drawing: IDrawing) {}

  draw(ctx: Pen, k: number, rect: IRect, palette: IPalette): void {
    const { boxes, edges } = this.at(k);
    this.drawEdges(ctx, edges, k, rect, palette);
    this.drawBoxes(ctx, boxes, rect, palette);
  }

  private drawEdges(
    ctx: Pen,
    edges: Float64Array,
    k: number,
    rect: IRect,
    palette: IPalette
  ): void {
    const down = this.drawing.scene.direction === 'down';
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

  private drawBoxes(
    ctx: Pen,
    boxes: IMerged,
    rect: IRect,
    palette: IPalette
  ): void {
    const right = rect.x + rect.w;
    const bottom = rect.y + rect.h;
    for (const run of boxes.runs) {
      ctx.fillStyle = palette.color(this.drawing.paint.paints[run.paint]);
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

  private at(k: number): IPicture {
    const step = Math.ceil(Math.log2(k));
    let picture = this.pictures.get(step);
    if (!picture) {
      const { scene, paint } = this.drawing;
      const cells = (scene.width * scene.height) / MOST_CELLS;
      const cell = Math.max(CELL_PIXELS / 2 ** step, Math.sqrt(cells));
      picture = {
        boxes: mergeBoxes(scene, paint, cell, cell),
        edges: mergeEdges(scene, cell, cell)
      };
      this.pictures.set(step, picture);
    }
    return picture;
  }
}
