/** The minimap: the whole scene in a corner, redrawn when the layout or the colours change. */
import type { IScene } from '../../../core/types';
import type { ICamera } from '../surfaceApi';
import { type IPoint, type IViewSize, visibleRect } from '../geometry/camera';
import type {
  Corner,
  IDockedItem,
  IDockPlace,
  IDockView
} from '../viewport/cornerDocks';
import { aggregateBoxes, aggregateEdges } from './canvas/cellAggregation';
import type { IDrawContext } from '../draw/drawTarget';
import type { IPalette } from '../style/themePalette';

/** Length of the minimap along the flow, and its breadth. */
const STRIP_LENGTH = 260;
const MAX_BREADTH = 96;
/** Minimum thickness, below which it is hard to hit. */
const MIN_BREADTH = 34;
const MARGIN = 5;

/** Size as a slim line at the edge of the view; hovering expands it. */
const SLIM_SIZE: IViewSize = { w: 96, h: 16 };

export class Minimap implements IDockedItem {
  readonly corners: readonly Corner[] = [
    'bottom-right',
    'bottom-left',
    'top-right',
    'top-left'
  ];
  readonly slim = SLIM_SIZE;
  readonly rank = 1;
  readonly element = document.createElement('div');
  private readonly _canvas = document.createElement('canvas');
  private readonly _frame = document.createElement('div');
  private readonly _abort = new AbortController();
  private _scene: IScene | null = null;
  private _extent: IViewSize = { w: 0, h: 0 };
  private _framed: IViewSize = { w: -1, h: -1 };

  /** `go` receives the world point to move to the middle of the view. */
  constructor(
    private readonly _go: (to: IPoint) => void,
    title: string
  ) {
    this.element.title = title;
    this.element.className = 'oad-minimap';
    this.element.dataset.corner = this.corners[0];
    // The keyboard has fit, arrows and search; to a screen reader the minimap is redundant.
    this.element.setAttribute('aria-hidden', 'true');
    this._frame.className = 'oad-minimap-frame';
    this.element.append(this._canvas, this._frame);
    const options = { signal: this._abort.signal };
    this.element.addEventListener(
      'pointerdown',
      e => this._drag(e, true),
      options
    );
    this.element.addEventListener(
      'pointermove',
      e => this._drag(e, false),
      options
    );
    for (const type of ['click', 'dblclick', 'pointerup'] as const) {
      this.element.addEventListener(type, e => e.stopPropagation(), options);
    }
  }

  dispose(): void {
    this._abort.abort();
    this.element.remove();
  }

  size(): IViewSize {
    return this._extent;
  }

  isAway({ camera, view }: IDockView): boolean {
    return this._isWhole(camera, view);
  }

  place({ corner, slim }: IDockPlace): void {
    this.element.dataset.corner = corner;
    this.element.classList.toggle('oad-mod-slim', slim);
  }

  /** Draws the whole scene; `view` limits the size of the minimap. */
  draw(
    drawing: IDrawContext,
    view: IViewSize,
    palette: IPalette,
    dpr: number
  ): void {
    const { scene } = drawing;
    this._scene = scene;
    this._extent = stripSize(scene, view);
    const { w, h } = this._extent;
    this._canvas.width = w * dpr;
    this._canvas.height = h * dpr;
    this.element.style.width = `${w}px`;
    this.element.style.height = `${h}px`;
    const shrink = `scale(${Math.min(1, SLIM_SIZE.w / w)}, ${Math.min(1, SLIM_SIZE.h / h)})`;
    this.element.style.setProperty('--oad-shrink', shrink);
    const ctx = this._canvas.getContext('2d');
    if (!ctx) {
      return;
    }
    ctx.setTransform(dpr, 0, 0, dpr, 0, 0);
    ctx.clearRect(0, 0, w, h);
    paintOverview(ctx, drawing, this._scaleX, this._scaleY, palette);
  }

  private _isWhole(camera: ICamera, view: IViewSize): boolean {
    const r = visibleRect(camera, view);
    const { width, height } = this._scene ?? { width: 0, height: 0 };
    return r.x <= 0 && r.y <= 0 && r.x + r.w >= width && r.y + r.h >= height;
  }

  /** Moves the frame to the visible part; hides the minimap while the whole scene is in view. */
  show(camera: ICamera, view: IViewSize): void {
    if (!this._scene) {
      this.element.style.display = 'none';
      return;
    }
    const r = visibleRect(camera, view);
    this.element.style.display = this._isWhole(camera, view) ? 'none' : '';
    const x0 = clamp(MARGIN + r.x * this._scaleX, this._extent.w);
    const x1 = clamp(MARGIN + (r.x + r.w) * this._scaleX, this._extent.w);
    const y0 = clamp(MARGIN + r.y * this._scaleY, this._extent.h);
    const y1 = clamp(MARGIN + (r.y + r.h) * this._scaleY, this._extent.h);
    const width = Math.max(6, x1 - x0);
    const height = Math.max(6, y1 - y0);
    const left = Math.min(x0, this._extent.w - width);
    const top = Math.min(y0, this._extent.h - height);
    this._frame.style.transform = `translate(${left}px,${top}px)`;
    if (width !== this._framed.w || height !== this._framed.h) {
      this._framed = { w: width, h: height };
      this._frame.style.width = `${width}px`;
      this._frame.style.height = `${height}px`;
    }
  }

  private get _scaleX(): number {
    return (this._extent.w - 2 * MARGIN) / Math.max(1, this._scene?.width ?? 1);
  }

  private get _scaleY(): number {
    return (
      (this._extent.h - 2 * MARGIN) / Math.max(1, this._scene?.height ?? 1)
    );
  }

  private _drag(event: PointerEvent, start: boolean): void {
    event.stopPropagation();
    if (event.buttons !== 1 || !this._scene) {
      return;
    }
    if (start) {
      this.element.setPointerCapture?.(event.pointerId);
    }
    const r = this.element.getBoundingClientRect();
    this._go({
      x: (event.clientX - r.left - MARGIN) / this._scaleX,
      y: (event.clientY - r.top - MARGIN) / this._scaleY
    });
  }
}

/** Maximum size for a scene in rows, which is scaled uniformly. */
const MAX_ROWS_SIZE: IViewSize = { w: 200, h: 150 };

/** Size of the minimap: a strip along the flow, or a sheet for rows, limited to a share of the view. */
function stripSize(scene: IScene, view: IViewSize): IViewSize {
  if (scene.inRows) {
    const scale = Math.min(
      Math.min(MAX_ROWS_SIZE.w, view.w * 0.3) / Math.max(1, scene.width),
      Math.min(MAX_ROWS_SIZE.h, view.h * 0.35) / Math.max(1, scene.height)
    );
    return {
      w: Math.max(MIN_BREADTH, Math.round(scene.width * scale)),
      h: Math.max(MIN_BREADTH, Math.round(scene.height * scale))
    };
  }
  const down = scene.direction === 'down';
  const [along, across] = down
    ? [scene.height, scene.width]
    : [scene.width, scene.height];
  const maxSize = down ? view.h * 0.5 : view.w * 0.3;
  const length = Math.round(
    Math.min(
      STRIP_LENGTH,
      maxSize,
      (MAX_BREADTH * 3 * along) / Math.max(1, across)
    )
  );
  const breadth = Math.round(
    Math.max(
      MIN_BREADTH,
      Math.min(MAX_BREADTH, (length * across) / Math.max(1, along))
    )
  );
  const long = Math.max(1, length);
  return down ? { w: breadth, h: long } : { w: long, h: breadth };
}

function clamp(value: number, max: number): number {
  return Math.min(max - 1, Math.max(1, value));
}

/** Draws all boxes and wires with separate scales per axis: a long chain becomes a readable strip. */
function paintOverview(
  ctx: CanvasRenderingContext2D,
  drawing: IDrawContext,
  scaleX: number,
  scaleY: number,
  palette: IPalette
): void {
  const { scene, paint } = drawing;
  ctx.translate(MARGIN, MARGIN);
  ctx.scale(scaleX, scaleY);
  const cellW = 1 / scaleX;
  const cellH = 1 / scaleY;
  const edges = aggregateEdges(scene, cellW, cellH);
  ctx.beginPath();
  for (let i = 0; i < edges.length; i += 4) {
    ctx.moveTo(edges[i], edges[i + 1]);
    ctx.lineTo(edges[i + 2], edges[i + 3]);
  }
  ctx.save();
  ctx.setTransform(1, 0, 0, 1, 0, 0);
  ctx.strokeStyle = palette.color('--oad-edge');
  ctx.globalAlpha = 0.5;
  ctx.lineWidth = 0.75;
  ctx.stroke();
  ctx.restore();
  const { runs, rects } = aggregateBoxes(scene, paint, cellW, cellH);
  for (const run of runs) {
    ctx.fillStyle = palette.color(paint.paints[run.paint]);
    for (let i = 4 * run.from; i < 4 * run.to; i += 4) {
      ctx.fillRect(rects[i], rects[i + 1], rects[i + 2], rects[i + 3]);
    }
  }
}
