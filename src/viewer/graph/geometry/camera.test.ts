import { describe, expect, it } from 'vitest';
import {
  cameraKeepingPoint,
  interpolateCamera,
  clampCamera,
  fitRect,
  initialCamera,
  minZoom,
  panBy,
  toScreen,
  toWorld,
  visibleRect,
  zoomAt
} from './camera';
import { readableLength } from '../../../core/layout/paneZoom';

const view = { w: 800, h: 600 };

describe('camera', () => {
  it('maps the centre of the view to the camera and back', () => {
    const c = { x: 100, y: 50, k: 2 };
    expect(toScreen(c, view, 100, 50)).toEqual({ x: 400, y: 300 });
    const p = toWorld(c, view, 13, 577);
    const s = toScreen(c, view, p.x, p.y);
    expect(s.x).toBeCloseTo(13);
    expect(s.y).toBeCloseTo(577);
  });

  it('keeps the point under the pointer when zooming', () => {
    let c = { x: 10, y: 20, k: 0.7 };
    const point = { x: 650, y: 90 };
    const before = toWorld(c, view, point.x, point.y);
    for (const k of [1.3, 0.2, 3.9]) {
      c = zoomAt(c, view, point, k);
      const after = toWorld(c, view, point.x, point.y);
      expect(after.x).toBeCloseTo(before.x);
      expect(after.y).toBeCloseTo(before.y);
    }
  });

  it('shows a whole graph that fits, but not a longer one', () => {
    const visibleShare = (w: number): number => {
      const camera = initialCamera({ w, h: 40 }, view);
      return visibleRect(camera, view).x + visibleRect(camera, view).w - w;
    };
    const length = readableLength(view.w);
    expect(visibleShare(length)).toBeGreaterThanOrEqual(0);
    expect(visibleShare(length + 1)).toBeLessThan(0);
  });

  it('pans with the pointer', () => {
    const c = panBy({ x: 0, y: 0, k: 2 }, 100, -40);
    expect(c).toEqual({ x: -50, y: 20, k: 2 });
  });

  it('fits a rectangle up to the zoom limit', () => {
    expect(fitRect({ x: 0, y: 0, w: 100, h: 100 }, view).k).toBe(1);
    const c = fitRect({ x: 0, y: 0, w: 7520, h: 10 }, view);
    expect(c.k).toBeCloseTo(0.1);
    const r = visibleRect(c, view);
    expect(r.x).toBeLessThanOrEqual(0);
    expect(r.x + r.w).toBeGreaterThanOrEqual(7520);
  });

  it('shows a small model whole and a long one readable from its left end', () => {
    expect(initialCamera({ w: 700, h: 300 }, view).x).toBe(350);
    const c = initialCamera({ w: 100000, h: 300 }, view);
    expect(c.k).toBeGreaterThanOrEqual(0.5);
    expect(toScreen(c, view, 0, 150)).toEqual({ x: 24, y: 300 });
  });

  it('keeps the scene in view and the zoom in range', () => {
    const scene = { w: 1000, h: 400 };
    const clamped = clampCamera({ x: 1e9, y: -1e9, k: 99 }, scene, view);
    expect(clamped.k).toBe(4);
    const r = visibleRect(clamped, view);
    expect(r.x).toBeLessThan(1000);
    expect(r.y + r.h).toBeGreaterThan(0);
    const low = clampCamera({ x: 0, y: 0, k: 1e-9 }, scene, view);
    expect(low.k).toBe(minZoom(scene, view));
    expect(minZoom({ w: 1e7, h: 500 }, view)).toBeLessThan(1e-4);
  });

  it('animates in a straight line and ends exactly', () => {
    const a = { x: 0, y: 0, k: 1 };
    const b = { x: 1000, y: 200, k: 0.25 };
    expect(interpolateCamera(a, b, 1)).toBe(b);
    expect(interpolateCamera(a, b, 0)).toEqual(a);
    const half = interpolateCamera(a, b, 0.5);
    expect(half.k).toBeCloseTo(0.5);
    // The fixed point of the zoom: both cameras show it at the same position.
    const anchor = { x: -1000 / 3, y: -200 / 3 };
    const s0 = toScreen(a, view, anchor.x, anchor.y);
    const s1 = toScreen(half, view, anchor.x, anchor.y);
    expect(s1.x).toBeCloseTo(s0.x);
    expect(s1.y).toBeCloseTo(s0.y);
  });

  it('keeps an anchor in place between two scenes', () => {
    const c = { x: 300, y: 100, k: 0.8 };
    const next = cameraKeepingPoint(c, { x: 40, y: 60 }, { x: 90, y: 10 });
    expect(toScreen(next, view, 90, 10)).toEqual(toScreen(c, view, 40, 60));
  });
});
