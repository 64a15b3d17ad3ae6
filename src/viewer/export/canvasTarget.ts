/** Draws primitives on a canvas. */
import type { ColorToken } from '../graph/style/boxColors';
import {
  dashesOf,
  type IShape,
  type ITextStyle
} from '../graph/draw/drawTarget';
import type { IPalette } from '../graph/style/themePalette';
import type { IPage } from './pictureLayout';
import { encodePng, TILE_HEIGHT, TILE_WIDTH } from './png';
import type { IPageTarget } from './pageTarget';

/** Pixels of the largest image; image viewers have similar limits. */
export const MAX_PIXELS = 2 ** 28;
/** Pixels per inch at scale 1, as in CSS. */
const DPI = 96;

class CanvasTarget implements IPageTarget {
  constructor(
    private readonly _ctx: CanvasRenderingContext2D,
    private readonly _palette: IPalette
  ) {
    _ctx.lineCap = 'round';
    _ctx.lineJoin = 'round';
    _ctx.textBaseline = 'alphabetic';
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
    this._draw(path, shape);
  }

  path(d: string, shape: IShape): void {
    this._draw(new Path2D(d), shape);
  }

  text(x: number, y: number, text: string, style: ITextStyle): void {
    const { _ctx: ctx } = this;
    ctx.font = `${style.weight ?? 400} ${style.size}px ${this._palette.font}`;
    ctx.textAlign =
      style.anchor === 'middle' ? 'center' : (style.anchor ?? 'start');
    ctx.globalAlpha = style.opacity ?? 1;
    ctx.fillStyle = this._color(style.fill);
    ctx.fillText(text, x, y);
    ctx.globalAlpha = 1;
  }

  push(x: number, y: number, k: number): void {
    this._ctx.save();
    this._ctx.translate(x, y);
    this._ctx.scale(k, k);
  }

  clip(x: number, y: number, w: number, h: number): void {
    this._ctx.save();
    this._ctx.beginPath();
    this._ctx.rect(x, y, w, h);
    this._ctx.clip();
  }

  pop(): void {
    this._ctx.restore();
  }

  private _draw(path: Path2D, shape: IShape): void {
    const { _ctx: ctx } = this;
    ctx.globalAlpha = shape.opacity ?? 1;
    if (shape.fill) {
      ctx.fillStyle = this._color(shape.fill);
      ctx.fill(path);
    }
    if (shape.stroke) {
      ctx.strokeStyle = this._color(shape.stroke);
      ctx.lineWidth = shape.width ?? 1;
      ctx.setLineDash([...dashesOf(shape)]);
      ctx.stroke(path);
    }
    ctx.globalAlpha = 1;
  }

  private _color(paint: ColorToken): string {
    return this._palette.color(paint);
  }
}

/** Width and height of a page's image, in pixels. */
export function pixelsOf(page: IPage, scale: number): { w: number; h: number } {
  return {
    w: Math.ceil(page.width * scale),
    h: Math.ceil(page.height * scale)
  };
}

/**
 * The page as a PNG. Tiles keep it below the browser's limit for one canvas.
 *
 * Rejects with an `Error` if the browser provides no canvas.
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
    const clip = { x: x / scale, y: y / scale, w: w / scale, h: h / scale };
    page.draw(new CanvasTarget(ctx, palette), clip);
    return ctx.getImageData(0, 0, w, h).data;
  };
  return encodePng(width, height, DPI * scale, paint);
}
