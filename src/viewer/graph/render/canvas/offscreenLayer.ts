/**
 * A canvas that is painted offscreen and shown by transferring the bitmap. Without a graphics card,
 * browsers copy a canvas with a 2D context in every frame, even if it has not changed.
 */
import type { IViewSize } from '../../geometry/camera';

/** A 2D context, on or off screen. */
export type Canvas2D =
  CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D;

export class OffscreenLayer {
  readonly element = document.createElement('canvas');
  private readonly _hidden =
    typeof OffscreenCanvas === 'function' ? new OffscreenCanvas(1, 1) : null;

  /** Paints and shows a picture of this size, with `dpr` canvas pixels per screen pixel. */
  draw(size: IViewSize, dpr: number, paint: (ctx: Canvas2D) => void): void {
    const w = Math.max(1, Math.round(size.w * dpr));
    const h = Math.max(1, Math.round(size.h * dpr));
    this.element.style.width = `${size.w}px`;
    this.element.style.height = `${size.h}px`;
    const target = this._hidden ?? this.element;
    if (target.width !== w || target.height !== h) {
      target.width = w;
      target.height = h;
    }
    const ctx = target.getContext('2d') as Canvas2D | null;
    if (ctx) {
      paint(ctx);
      this._show();
    }
  }

  private _show(): void {
    if (this._hidden) {
      this.element
        .getContext('bitmaprenderer')
        ?.transferFromImageBitmap(this._hidden.transferToImageBitmap());
    }
  }
}
