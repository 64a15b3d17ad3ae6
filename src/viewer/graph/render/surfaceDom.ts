/** The DOM of the surface within its host: canvas at the bottom, elements above, minimap and messages. */
import type { ISurfaceStrings } from '../surfaceApi';
import type { IPoint, IViewSize } from '../geometry/camera';
import { OffscreenLayer } from './canvas/offscreenLayer';
import { svgElement } from './svg/svgTarget';

/** Maximum device pixel ratio of canvases; more is not worth the cost. */
const MAX_DPR = 2;

export class SurfaceDom {
  readonly root = document.createElement('div');
  readonly offscreenLayer = new OffscreenLayer();
  readonly svg = svgElement('svg');
  private readonly _marquee = document.createElement('div');
  private readonly _liveRegion = document.createElement('div');
  private readonly _observer: ResizeObserver | null;
  private _width = 0;
  private _height = 0;

  constructor(
    host: HTMLElement,
    strings: ISurfaceStrings,
    onResize: () => void
  ) {
    this.root.className = 'oad-graph';
    this.root.tabIndex = 0;
    this.root.setAttribute('role', 'group');
    this.root.setAttribute('aria-label', strings.graph);
    this.svg.setAttribute('class', 'oad-graph-svg');
    const canvas = this.offscreenLayer.element;
    canvas.className = 'oad-graph-canvas';
    canvas.setAttribute('aria-hidden', 'true');
    this._marquee.className = 'oad-band';
    this._liveRegion.className = 'oad-live';
    this._liveRegion.setAttribute('aria-live', 'polite');
    this.root.append(canvas, this.svg, this._marquee, this._liveRegion);
    host.append(this.root);
    this._observer =
      typeof ResizeObserver === 'function'
        ? new ResizeObserver(() => {
            if (this._measure()) {
              onResize();
            }
          })
        : null;
    this._observer?.observe(this.root);
    this._measure();
  }

  get size(): IViewSize {
    return { w: this._width, h: this._height };
  }

  get dpr(): number {
    return Math.min(
      MAX_DPR,
      (typeof devicePixelRatio === 'number' && devicePixelRatio) || 1
    );
  }

  showMarquee(from: IPoint, to: IPoint | null): void {
    const { style } = this._marquee;
    style.display = to ? 'block' : 'none';
    if (to) {
      style.left = `${Math.min(from.x, to.x)}px`;
      style.top = `${Math.min(from.y, to.y)}px`;
      style.width = `${Math.abs(to.x - from.x)}px`;
      style.height = `${Math.abs(to.y - from.y)}px`;
    }
  }

  /** Sets a short tooltip; null removes it. */
  setTooltip(text: string | null): void {
    if (text === null) {
      this.root.removeAttribute('title');
    } else {
      this.root.title = text;
    }
  }

  announce(text: string | null): void {
    if (text !== null && this._liveRegion.textContent !== text) {
      this._liveRegion.textContent = text;
    }
  }

  dispose(): void {
    this._observer?.disconnect();
    this.root.remove();
  }

  private _measure(): boolean {
    const w = this.root.clientWidth;
    const h = this.root.clientHeight;
    const changed = w !== this._width || h !== this._height;
    this._width = w;
    this._height = h;
    return changed;
  }
}
