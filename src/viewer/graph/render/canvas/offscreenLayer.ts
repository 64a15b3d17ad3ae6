/**
 * A canvas that is drawn on elsewhere and shown by handing the picture over. A canvas with a context
 * of its own is copied at every frame where there is no graphics card, whether it changed or not.
 */
import type { IViewSize } from '../../geometry/camera';

/** What draws on a canvas, be it in the document or not. */
export type Canvas2D =
  CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D;

export class OffscreenLayer {
  readonly element = document.createElement('canvas');
  private readonly _hidden =
    typeof OffscreenCanvas === 'function' ? new OffscreenCanvas(1, 1) : null;

  /** Draws a picture of this size, `dpr` pixels of the canvas to one of the screen, and shows it. */
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
