/** The surface's own elements inside the host: canvas below, elements above, strip and messages. */
import type { ISurfaceStrings } from './api';
import type { IPoint, ISize } from './camera';
import { Sheet } from './sheet';
import { svgElement } from './svgsink';

/** More than this many device pixels a pixel are not worth their cost on a canvas. */
const MOST_DPR = 2;

export class Stage {
  readonly root = document.createElement('div');
  readonly sheet = new Sheet();
  readonly svg = svgElement('svg');
  private readonly band = document.createElement('div');
  private readonly live = document.createElement('div');
  private readonly observer: ResizeObserver | null;
  private width = 0;
  private height = 0;

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
    const canvas = this.sheet.element;
    canvas.className = 'oad-graph-canvas';
    canvas.setAttribute('aria-hidden', 'true');
    this.band.className = 'oad-band';
    this.live.className = 'oad-live';
    this.live.setAttribute('aria-live', 'polite');
    this.root.append(canvas, this.svg, this.band, this.live);
    host.append(this.root);
    this.observer =
      typeof ResizeObserver === 'function'
        ? new ResizeObserver(() => {
            if (this.measure()) {
              onResize();
            }
          })
        : null;
    this.observer?.observe(this.root);
    this.measure();
  }

  get size(): ISize {
    return { w: this.width, h: this.height };
  }

  get dpr(): number {
    return Math.min(
      MOST_DPR,
      (typeof devicePixelRatio === 'number' && devicePixelRatio) || 1
    );
  }

  showBand(from: IPoint, to: IPoint | null): void {
    const { style } = this.band;
    style.display = to ? 'block' : 'none';
    if (to) {
      style.left = `${Math.min(from.x, to.x)}px`;
      style.top = `${Math.min(from.y, to.y)}px`;
      style.width = `${Math.abs(to.x - from.x)}px`;
      style.height = `${Math.abs(to.y - from.y)}px`;
    }
  }

  /** A few words at the pointer; null = none. */
  setTip(text: string | null): void {
    if (text === null) {
      this.root.removeAttribute('title');
    } else {
      this.root.title = text;
    }
  }

  announce(text: string | null): void {
    if (text !== null && this.live.textContent !== text) {
      this.live.textContent = text;
    }
  }

  dispose(): void {
    this.observer?.disconnect();
    this.root.remove();
  }

  private measure(): boolean {
    const w = this.root.clientWidth;
    const h = this.root.clientHeight;
    const changed = w !== this.width || h !== this.height;
    this.width = w;
    this.height = h;
    return changed;
  }
}
