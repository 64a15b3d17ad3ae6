/** Camera arithmetic: pure functions of a centre, a zoom and the size of the host. */
import { MIN_READABLE_ZOOM, PADDING } from '../../../core/layout/paneZoom';
import type { FlowDirection, IScene } from '../../../core/types';
import type { ICamera } from '../surfaceApi';

export interface IViewSize {
  readonly w: number;
  readonly h: number;
}

export interface IRect {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

export interface IPoint {
  readonly x: number;
  readonly y: number;
}

/** A camera and the size of its view. */
export interface ICameraView {
  readonly camera: ICamera;
  readonly view: IViewSize;
}

const MAX_ZOOM = 4;
/** Maximum zoom when fitting a graph, so that a few boxes do not fill a wide pane. */
const MAX_FIT = 1.5;
/** Screen pixels of the scene that always stay in view. */
const MIN_VISIBLE_PX = 48;

export function toScreen(
  c: ICamera,
  view: IViewSize,
  x: number,
  y: number
): IPoint {
  return { x: (x - c.x) * c.k + view.w / 2, y: (y - c.y) * c.k + view.h / 2 };
}

export function toWorld(
  c: ICamera,
  view: IViewSize,
  x: number,
  y: number
): IPoint {
  return { x: (x - view.w / 2) / c.k + c.x, y: (y - view.h / 2) / c.k + c.y };
}

/** The visible rectangle in world units, extended by `margin` screen pixels. */
export function visibleRect(c: ICamera, view: IViewSize, margin = 0): IRect {
  const w = (view.w + 2 * margin) / c.k;
  const h = (view.h + 2 * margin) / c.k;
  return { x: c.x - w / 2, y: c.y - h / 2, w, h };
}

/** Pans by screen pixels; positive values move the contents right and down. */
export function panBy(c: ICamera, dx: number, dy: number): ICamera {
  return { x: c.x - dx / c.k, y: c.y - dy / c.k, k: c.k };
}

/** Sets the zoom so that the world point at a screen point stays there. */
export function zoomAt(
  c: ICamera,
  view: IViewSize,
  point: IPoint,
  k: number
): ICamera {
  const p = toWorld(c, view, point.x, point.y);
  return {
    x: p.x - (point.x - view.w / 2) / k,
    y: p.y - (point.y - view.h / 2) / k,
    k
  };
}

/** The camera that shows the whole rectangle, with a zoom of at most `maxK`. */
export function fitRect(rect: IRect, view: IViewSize, maxK = 1): ICamera {
  const w = Math.max(1, view.w - 2 * PADDING);
  const h = Math.max(1, view.h - 2 * PADDING);
  const k = Math.min(maxK, w / Math.max(1, rect.w), h / Math.max(1, rect.h));
  return { x: rect.x + rect.w / 2, y: rect.y + rect.h / 2, k };
}

export function sceneSize(scene: IScene): IViewSize {
  return { w: scene.width, h: scene.height };
}

/** The camera that shows the whole scene; a small one is enlarged a little. */
export function fitScene(scene: IScene, view: IViewSize): ICamera {
  return fitWhole(sceneSize(scene), view);
}

function fitWhole(scene: IViewSize, view: IViewSize): ICamera {
  return fitRect({ x: 0, y: 0, ...scene }, view, MAX_FIT);
}

/** The lowest zoom allowed: slightly below that of the fitted graph. */
export function minZoom(scene: IViewSize, view: IViewSize): number {
  return Math.min(0.1, fitRect({ x: 0, y: 0, ...scene }, view).k * 0.6);
}

/** True if titles are readable at this zoom. */
export function isReadable({ k }: ICamera): boolean {
  return k >= MIN_READABLE_ZOOM;
}

/** The camera's zoom, limited to a range in which titles are readable and several boxes are in view. */
export function readingZoom({ k }: ICamera): number {
  return Math.min(0.85, Math.max(MIN_READABLE_ZOOM, k));
}

/**
 * Initial view: the whole graph if readable; otherwise its beginning at a readable zoom, with the main
 * line, at `line` across the flow, in the middle unless the full breadth is in view.
 */
export function initialCamera(
  scene: IViewSize,
  view: IViewSize,
  direction: FlowDirection = 'right',
  line?: number
): ICamera {
  const fitted = fitWhole(scene, view);
  if (isReadable(fitted)) {
    return fitted;
  }
  const down = direction === 'down';
  const across = down
    ? { x: 0, y: 0, w: scene.w, h: 1 }
    : { x: 0, y: 0, w: 1, h: scene.h };
  const byBreadth = fitRect(across, view, 1).k;
  // A narrow tab starts at a lower zoom, so that three or four boxes are in view.
  const readable = Math.min(0.85, Math.max(0.6, view.w / 1300));
  const k = Math.max(MIN_READABLE_ZOOM, Math.min(byBreadth, readable));
  const [breadth, viewLength] = down ? [scene.w, view.w] : [scene.h, view.h];
  const isWhole = breadth * k <= viewLength - 2 * PADDING;
  const middle = isWhole ? breadth / 2 : (line ?? breadth / 2);
  return down
    ? { x: middle, y: (view.h / 2 - PADDING) / k, k }
    : { x: (view.w / 2 - PADDING) / k, y: middle, k };
}

/**
 * Initial view of a graph in rows: all of it if readable; otherwise the beginning of its first rows, at
 * full width if that is readable.
 */
export function rowsCamera(scene: IViewSize, view: IViewSize): ICamera {
  const fitted = fitWhole(scene, view);
  if (isReadable(fitted)) {
    return fitted;
  }
  const byWidth = fitRect({ x: 0, y: 0, w: scene.w, h: 1 }, view, 0.85);
  const k = Math.max(MIN_READABLE_ZOOM, byWidth.k);
  const isWhole = scene.w * k <= view.w - 2 * PADDING;
  return {
    x: isWhole ? scene.w / 2 : (view.w / 2 - PADDING) / k,
    y: (view.h / 2 - PADDING) / k,
    k
  };
}

/** Keeps the zoom in its range and part of the scene in view. */
export function clampCamera(
  c: ICamera,
  scene: IViewSize,
  view: IViewSize
): ICamera {
  const k = Math.min(MAX_ZOOM, Math.max(minZoom(scene, view), c.k));
  const outX = Math.max(0, view.w / 2 - MIN_VISIBLE_PX) / k;
  const outY = Math.max(0, view.h / 2 - MIN_VISIBLE_PX) / k;
  return {
    x: Math.min(scene.w + outX, Math.max(-outX, c.x)),
    y: Math.min(scene.h + outY, Math.max(-outY, c.y)),
    k
  };
}

/**
 * Interpolates between two cameras, `t` from 0 to 1: the zoom geometrically, the centre so that points
 * visible in both move in a straight line.
 */
export function interpolateCamera(a: ICamera, b: ICamera, t: number): ICamera {
  if (t >= 1) {
    return b;
  }
  const k = a.k * Math.pow(b.k / a.k, t);
  // With s = 1/k linear in the centre, the fixed point of the zoom does not move on the screen.
  const s =
    Math.abs(b.k - a.k) < 1e-9 ? t : (1 / k - 1 / a.k) / (1 / b.k - 1 / a.k);
  return { x: a.x + (b.x - a.x) * s, y: a.y + (b.y - a.y) * s, k };
}

/** The camera for the new scene that keeps a world point at its screen position. */
export function cameraKeepingPoint(
  c: ICamera,
  before: IPoint,
  after: IPoint
): ICamera {
  return { x: c.x + after.x - before.x, y: c.y + after.y - before.y, k: c.k };
}

export function intersects(a: IRect, b: IRect): boolean {
  return (
    a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h
  );
}

/** True if `inner` lies within `outer`. */
export function contains(outer: IRect, inner: IRect): boolean {
  return (
    inner.x >= outer.x &&
    inner.y >= outer.y &&
    inner.x + inner.w <= outer.x + outer.w &&
    inner.y + inner.h <= outer.y + outer.h
  );
}

export function sameCamera(a: ICamera, b: ICamera): boolean {
  return a.x === b.x && a.y === b.y && a.k === b.k;
}

export function boxRect(scene: IScene, box: number): IRect {
  return {
    x: scene.boxX[box],
    y: scene.boxY[box],
    w: scene.boxW[box],
    h: scene.boxH[box]
  };
}

/** The bounding rectangle of some rectangles; empty if there are none. */
export function unionRect(rects: readonly IRect[]): IRect {
  const smallest = (values: number[]): number =>
    values.reduce((a, b) => Math.min(a, b), Infinity);
  const largest = (values: number[]): number =>
    values.reduce((a, b) => Math.max(a, b), -Infinity);
  const x = smallest(rects.map(r => r.x));
  const y = smallest(rects.map(r => r.y));
  const w = largest(rects.map(r => r.x + r.w)) - x;
  const h = largest(rects.map(r => r.y + r.h)) - y;
  return rects.length > 0 ? { x, y, w, h } : { x: 0, y: 0, w: 0, h: 0 };
}

/** The smallest pan in world units that brings the top left part of a rectangle into view. */
export function deltaIntoView(
  c: ICamera,
  view: IViewSize,
  r: IRect,
  margin: number
): { dx: number; dy: number } {
  const shift = (
    low: number,
    size: number,
    centre: number,
    extent: number
  ): number => {
    const half = extent / 2 / c.k;
    const edge = Math.min(margin / c.k, half / 2);
    const first = centre - half + edge;
    const last = centre + half - edge;
    const high = low + Math.min(size, last - first);
    return low < first ? low - first : high > last ? high - last : 0;
  };
  return { dx: shift(r.x, r.w, c.x, view.w), dy: shift(r.y, r.h, c.y, view.h) };
}
