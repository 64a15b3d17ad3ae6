/** Primitives as pixels of a canvas. */
import type { Paint } from '../graph/paint';
import { dashesOf, type IShape, type ITextStyle } from '../graph/primitives';
import type { IPalette } from '../graph/theme';
import type { IPage } from './page';
import { encodePng, TILE_HEIGHT, TILE_WIDTH } from './png';
import type { IPageSink } from './sink';

/** Pixels of the largest picture; programs that show pictures stop near there too. */
export const MOST_PIXELS = 2 ** 28;
/** Pixels an inch at scale 1, as CSS counts. */
const DPI = 96;

class CanvasSink implements IPageSink {
  constructor(
    private readonly ctx: CanvasRenderingContext2D,
    private readonly palette: IPalette
  ) {
    ctx.lineCap = 'round';
    ctx.lineJoin = 'round';
    ctx.textBaseline = 'alphabetic';
  }

  rect(
    x: number,
    y: number,
    w: number,
    h: number,
    r: number,
    shape: IShape
  ): void {
    const path = new Path2D();
    if (r > 0) {
      path.roundRect(x, y, w, h, Math.min(r, w / 2, h / 2));
    } else {
      path.rect(x, y, w, h);
    }
    this.draw(path, shape);
  }

  path(d: string, shape: IShape): void {
    this.draw(new Path2D(d), shape);
  }

  text(x: number, y: number, text: string, style: ITextStyle): void {
    const { ctx } = this;
    ctx.font = `${style.weight ?? 400} ${style.size}px ${this.palette.font}`;
    ctx.textAlign =
      style.anchor === 'middle' ? 'center' : (style.anchor ?? 'start');
    ctx.globalAlpha = style.opacity ?? 1;
    ctx.fillStyle = this.color(style.fill);
    ctx.fillText(text, x, y);
    ctx.globalAlpha = 1;
  }

  push(x: number, y: number, k: number): void {
    this.ctx.save();
    this.ctx.translate(x, y);
    this.ctx.scale(k, k);
  }

  clip(x: number, y: number, w: number, h: number): void {
    this.ctx.save();
    this.ctx.beginPath();
    this.ctx.rect(x, y, w, h);
    this.ctx.clip();
  }

  pop(): void {
    this.ctx.restore();
  }

  private draw(path: Path2D, shape: IShape): void {
    const { ctx } = this;
    ctx.globalAlpha = shape.opacity ?? 1;
    if (shape.fill) {
      ctx.fillStyle = this.color(shape.fill);
      ctx.fill(path);
    }
    if (shape.stroke) {
      ctx.strokeStyle = this.color(shape.stroke);
      ctx.lineWidth = shape.width ?? 1;
      ctx.setLineDash([...dashesOf(shape)]);
      ctx.stroke(path);
    }
    ctx.globalAlpha = 1;
  }

  private color(paint: Paint): string {
    return this.palette.color(paint);
  }
}

/** Width and height of the picture of a page, in pixels. */
export function pixelsOf(page: IPage, scale: number): { w: number; h: number } {
  return {
    w: Math.ceil(page.width * scale),
    h: Math.ceil(page.height * scale)
  };
}

/**
 * The page as a PNG. Tiles keep it below the browser's limit for one canvas.
 *
 * Rejects with an `Error` where the page's browser gives no canvas.
 */
export async function pngOf(
  page: IPage,
  scale: number,
  palette: IPalette
): Promise<Blob> {
  const { w: width, h: height } = pixelsOf(page, scale);
  const canvas = document.createElement('canvas');
  canvas.width = Math.min(TILE_WIDTH, width);
  canvas.height = Math.min(TILE_HEIGHT, height);
  const ctx = canvas.getContext('2d', { willReadFrequently: true });
  if (!ctx) {
    throw new Error('This browser gives no canvas to draw on.');
  }
  const paint = (x: number, y: number, w: number, h: number) => {
    ctx.setTransform(scale, 0, 0, scale, -x, -y);
    const part = { x: x / scale, y: y / scale, w: w / scale, h: h / scale };
    page.draw(new CanvasSink(ctx, palette), part);
    return ctx.getImageData(0, 0, w, h).data;
  };
  return encodePng(width, height, DPI * scale, paint);
}
