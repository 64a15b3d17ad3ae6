// @vitest-environment jsdom
import { beforeEach, describe, expect, it } from 'vitest';
import { toScreen } from '../geometry/camera';
import {
  coversView,
  CompositorLayer,
  transformBetween,
  PaintStep
} from './compositorLayer';

const view = { w: 1000, h: 600 };
const camera = { x: 400, y: 300, k: 0.5 };

/** Screen position of a painted point after the transform. */
function transformPoint(
  from: typeof camera,
  to: typeof camera,
  x: number,
  y: number
) {
  const painted = toScreen(from, view, x, y);
  const transform = transformBetween(from, to, view, 2);
  return {
    x: painted.x * transform.scale + transform.x,
    y: painted.y * transform.scale + transform.y
  };
}

describe('transform of a painted graph', () => {
  it('matches a repaint to half a device pixel', () => {
    const to = { x: 431.37, y: 288.91, k: 0.5 };
    const transformed = transformPoint(camera, to, 77, 913);
    const expected = toScreen(to, view, 77, 913);
    expect(Math.abs(transformed.x - expected.x)).toBeLessThanOrEqual(0.25);
    expect(Math.abs(transformed.y - expected.y)).toBeLessThanOrEqual(0.25);
    const transform = transformBetween(camera, to, view, 2);
    expect(transform.x * 2).toBe(Math.round(transform.x * 2));
    expect(transform.y * 2).toBe(Math.round(transform.y * 2));
  });

  it('is exact when scaled', () => {
    const to = { x: 380, y: 310, k: 0.6 };
    const transformed = transformPoint(camera, to, 77, 913);
    const expected = toScreen(to, view, 77, 913);
    expect(transformed.x).toBeCloseTo(expected.x, 6);
    expect(transformed.y).toBeCloseTo(expected.y, 6);
  });

  it('covers the view within its margin', () => {
    expect(coversView({ x: 100, y: -100, scale: 1 }, view, 100)).toBe(true);
    expect(coversView({ x: 101, y: 0, scale: 1 }, view, 100)).toBe(false);
    expect(coversView({ x: 0, y: -101, scale: 1 }, view, 100)).toBe(false);
    expect(coversView({ x: 50, y: 30, scale: 0.9 }, view, 0)).toBe(false);
    expect(coversView({ x: 50, y: 30, scale: 0.9 }, view, 100)).toBe(true);
  });
});

describe('motion', () => {
  let style: CSSStyleDeclaration;
  let transform: CompositorLayer;
  const step = (x: number, k = 0.5, moving = true) =>
    transform.step({ x, y: 300, k }, view, 1, moving);

  beforeEach(() => {
    style = document.createElement('div').style;
    transform = new CompositorLayer(style, 100);
  });

  it('paints a single jump without a layer', () => {
    expect(step(400)).toBe(PaintStep.PaintExact);
    expect(style.willChange).toBe('');
    expect(style.transform).toBe('');
  });

  it('transforms from the third frame on and repaints at the end of the margin', () => {
    step(400);
    expect(step(420)).toBe(PaintStep.PaintWithMargin);
    expect(style.willChange).toBe('transform');
    expect(style.transform).toBe('translate(-100px,-100px)');
    expect(step(440)).toBe(PaintStep.Transformed);
    expect(style.transform).toBe('translate(-110px,-100px)');
    expect(step(620)).toBe(PaintStep.Transformed);
    expect(step(622)).toBe(PaintStep.PaintWithMargin);
    expect(style.transform).toBe('translate(-100px,-100px)');
  });

  it('scales slightly and repaints before blurring', () => {
    step(400);
    step(400);
    expect(step(400, 0.6)).toBe(PaintStep.Transformed);
    expect(style.transform).toContain('scale(1.2)');
    expect(step(400, 0.61)).toBe(PaintStep.Transformed);
    expect(step(400, 0.66)).toBe(PaintStep.PaintWithMargin);
    expect(style.transform).not.toContain('scale');
  });

  it('scales further during a fast zoom', () => {
    step(400);
    step(400);
    expect(step(400, 0.7)).toBe(PaintStep.Transformed);
    expect(step(400, 0.95)).toBe(PaintStep.Transformed);
    expect(step(400, 0.96)).toBe(PaintStep.PaintWithMargin);
  });

  it('has another margin while zooming', () => {
    transform = new CompositorLayer(style, 100, 0);
    step(400);
    step(400);
    expect(transform.margin).toBe(100);
    expect(step(400, 1.1)).toBe(PaintStep.PaintWithMargin);
    expect(transform.margin).toBe(0);
    expect(style.transform).toBe('translate(0px,0px)');
    expect(step(400, 1.2)).toBe(PaintStep.Transformed);
    expect(step(400, 1.05)).toBe(PaintStep.PaintWithMargin);
  });

  it('ends with a repaint without a layer', () => {
    step(400);
    step(420);
    step(440);
    expect(step(440, 0.5, false)).toBe(PaintStep.PaintExact);
    expect(style.willChange).toBe('');
    expect(style.transform).toBe('');
  });

  it('repaints after invalidation', () => {
    step(400);
    step(420);
    transform.invalidate();
    expect(step(430)).toBe(PaintStep.PaintWithMargin);
    expect(step(440)).toBe(PaintStep.Transformed);
  });
});
