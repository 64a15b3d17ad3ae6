/**
 * A canvas that is drawn on elsewhere and shown by handing the picture over. A canvas with a context
 * of its own is copied at every frame where there is no graphics card, whether it changed or not.
 */
import type { ISize } from './camera';

/** What draws on a canvas, be it in the document or not. */
export type Pen = CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D;

export class Sheet {
  readonly element = document.createElement('canvas');
  private readonly hidden =
    typeof OffscreenCanvas === 'function' ? new OffscreenCanvas(1, 1) : null;

  /** Draws a picture of this size, `dpr` pixels of the canvas to one of the screen, and shows it. */
  draw(size: ISize, dpr: number, paint: (ctx: Pen) => void): void {
    const w = Math.max(1, Math.round(size.w * dpr));
    const h = Math.max(1, Math.round(size.h * dpr));
    this.element.style.width = `${size.w}px`;
    this.element.style.height = `${size.h}px`;
    const target = this.hidden ?? this.element;
    if (target.width !== w || target.height !== h) {
      target.width = w;
      target.height = h;
    }
    const ctx = target.getContext('2d') as Pen | null;
    if (ctx) {
      paint(ctx);
      this.show();
    }
  }

  private show(): void {
    if (this.hidden) {
      this.element
        .getContext('bitmaprenderer')
        ?.transferFromImageBitmap(this.hidden.transferToImageBitmap());
    }
  }
}
