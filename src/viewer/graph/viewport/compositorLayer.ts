/**
 * Moves a painted picture instead of repainting it. While the camera moves, the element is a compositor
 * layer that the browser shifts and scales: a frame then paints only what comes into view. At rest there
 * is no layer, and the picture is painted exactly in place.
 */
import type { ICamera } from '../surfaceApi';
import type { IViewSize } from '../geometry/camera';

/** Maximum scale of a painted picture, above which it would look blurred. */
const MAX_SCALE = 1.3;
/** Number of frames in a fast zoom for which it may be scaled further. */
const MAX_FAST_FRAMES = 3;
const MAX_FAST_SCALE = 2;

/** Position for one camera of a picture painted for another: screen = painted × scale + (x, y). */
export interface IViewTransform {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
}

/** The transform that a picture painted for `from` needs for `to`; whole device pixels keep it sharp. */
export function transformBetween(
  from: ICamera,
  to: ICamera,
  view: IViewSize,
  dpr: number
): IViewTransform {
  const scale = to.k / from.k;
  const x = (view.w / 2) * (1 - scale) + (from.x - to.x) * to.k;
  const y = (view.h / 2) * (1 - scale) + (from.y - to.y) * to.k;
  const roundToPixel = (v: number) => Math.round(v * dpr) / dpr;
  return scale === 1
    ? { x: roundToPixel(x), y: roundToPixel(y), scale }
    : { x, y, scale };
}

/** True if a picture with this margin around the view still covers all of it. */
export function coversView(
  transform: IViewTransform,
  view: IViewSize,
  margin: number
): boolean {
  const covers = (offset: number, length: number) =>
    offset - margin * transform.scale <= 0 &&
    offset + (length + margin) * transform.scale >= length;
  return covers(transform.x, view.w) && covers(transform.y, view.h);
}

/** Painting that a frame needs. */
export const enum PaintStep {
  /** None: the picture has been transformed for the camera. */
  Transformed = 0,
  /** Paint with a margin, since more motion follows. */
  PaintWithMargin = 1,
  /** Paint for this camera only. */
  PaintExact = 2
}

export class CompositorLayer {
  private _painted: ICamera | null = null;
  private _frames = 0;
  /** Frames since the picture was painted. */
  private _age = 0;
  private _layered = false;
  private _last: ICamera | null = null;
  /** Screen pixels that the painted picture covers beyond each side of the view. */
  margin = 0;

  /** `panning` and `zooming`: the margins during each kind of motion. */
  constructor(
    private readonly _style: CSSStyleDeclaration,
    private readonly _panning: number,
    private readonly _zooming = _panning
  ) {}

  /** Transforms the picture for the camera, or returns how it must be painted. */
  step(
    camera: ICamera,
    view: IViewSize,
    dpr: number,
    moving: boolean
  ): PaintStep {
    // A single step is a jump; only the second one starts a motion that is worth a layer.
    this._frames = moving ? this._frames + 1 : 0;
    const zooms = this._last !== null && this._last.k !== camera.k;
    this._last = camera;
    const layered = this._frames > 1;
    if (layered && this._layered && this._painted) {
      const transform = transformBetween(this._painted, camera, view, dpr);
      const limit = ++this._age < MAX_FAST_FRAMES ? MAX_FAST_SCALE : MAX_SCALE;
      const close = transform.scale < limit && transform.scale > 1 / limit;
      if (close && coversView(transform, view, this.margin)) {
        this._style.transform = this._css(transform);
        return PaintStep.Transformed;
      }
    }
    this._painted = camera;
    this._age = 0;
    this.margin = !layered ? 0 : zooms ? this._zooming : this._panning;
    if (layered || this._layered) {
      this._layered = layered;
      this._style.willChange = layered ? 'transform' : '';
      this._style.transform = layered
        ? this._css({ x: 0, y: 0, scale: 1 })
        : '';
    }
    return layered ? PaintStep.PaintWithMargin : PaintStep.PaintExact;
  }

  /** The zoom that the picture is painted for. */
  zoomOf(camera: ICamera): number {
    return this._painted?.k ?? camera.k;
  }

  /** Marks the painted picture as outdated. */
  invalidate(): void {
    this._painted = null;
  }

  private _css({ x, y, scale }: IViewTransform): string {
    const outset = this.margin * scale;
    const zoom = scale === 1 ? '' : ` scale(${scale})`;
    return `translate(${x - outset}px,${y - outset}px)${zoom}`;
  }
}
