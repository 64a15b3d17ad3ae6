import { describe, expect, it } from 'vitest';
import { BoxKind, type FlowDirection, type IScene } from '../../../core/types';
import {
  edgePath,
  edgeWidth,
  labelAnchor,
  portPath
} from '../geometry/wirePath';
import { CanvasLayer } from './canvas/canvasLayer';
import { SpatialIndex } from '../scene/spatialIndex';
import {
  compactTitleSize,
  detailKey,
  Lod,
  lodOf
} from '../style/levelOfDetail';
import { aggregateBoxes, aggregateEdges } from './canvas/cellAggregation';
import { BoxColors } from '../style/boxColors';
import type { IDrawContext } from '../draw/drawTarget';
import { tileAlignedRect } from '../geometry/tileRect';
import { fromBoxes } from '../testing/scene';
import { findFreeX } from './canvas/canvasTitles';

const node = (x: number, y: number, kind = BoxKind.Node) => ({
  kind,
  entity: 0,
  x,
  y,
  w: 100,
  h: 40,
  depth: 0,
  parent: -1
});
const pair = (x: number, y: number, kind = BoxKind.Node) =>
  fromBoxes(
    [node(0, 0), node(x, y, kind)],
    [{ source: 0, target: 1, tensor: 3 }],
    () => -1
  );

describe('edge paths', () => {
  it('are lines if horizontal, else curves with horizontal ends', () => {
    expect(edgePath(pair(200, 0), 0)).toBe('M100,20H200');
    expect(edgePath(pair(200, 60), 0)).toBe('M100,20C150,20 150,80 200,80');
  });

  /** A wire that leaves a box, goes up, back over two boxes, down and into the first. */
  const laneScene = (direction: FlowDirection): IScene => {
    const lane = [200, 50, 210, 50, 210, 0, 90, 0, 90, 50, 100, 50];
    const points =
      direction === 'right'
        ? lane
        : lane.map((_, i) => lane[i % 2 === 0 ? i + 1 : i - 1]);
    return {
      ...pair(200, 0),
      direction,
      edgePoints: Float64Array.from(points),
      edgeOffsets: Int32Array.of(0, points.length / 2)
    };
  };

  it.each(['right', 'down'] as const)(
    'have rounded corners in a lane, flowing %s',
    direction => {
      const path = edgePath(laneScene(direction), 0);
      expect(path.match(/Q/g)).toHaveLength(4);
      expect(path).not.toContain('C');
      // No curve leaves the bounding rectangle of the points.
      const numbers = path.match(/-?[\d.]+/g)!.map(Number);
      const of = (k: number): number[] => numbers.filter((_, i) => i % 2 === k);
      const [x, y] = direction === 'right' ? [of(0), of(1)] : [of(1), of(0)];
      expect([Math.min(...x), Math.max(...x)]).toEqual([90, 210]);
      expect([Math.min(...y), Math.max(...y)]).toEqual([0, 50]);
    }
  );

  it.each(['right', 'down'] as const)(
    'are straight in a lane when zoomed out, flowing %s',
    direction => {
      const scene = laneScene(direction);
      const drawing = {
        scene,
        paint: new BoxColors(scene, { category: () => 'layer' } as never, null)
      } as IDrawContext;
      const commands: string[] = [];
      const pen = new Proxy({ canvas: { width: 1, height: 1 } } as never, {
        get: (context, name) =>
          Reflect.get(context, name) ?? (() => commands.push(String(name))),
        set: () => true
      });
      const layer = new CanvasLayer();
      layer.setDrawing(drawing, new SpatialIndex(scene));
      layer.draw(
        pen,
        {
          camera: { x: 150, y: 50, k: 0.29 },
          view: { w: 800, h: 600 },
          margin: 0,
          dpr: 1
        },
        { font: 'sans-serif', color: () => '#000' } as never,
        { hits: new Set() }
      );
      expect(commands.filter(name => name === 'lineTo')).toHaveLength(5);
      expect(commands).not.toContain('bezierCurveTo');
    }
  );

  it('loop on both sides for a back edge', () => {
    const d = edgePath(pair(-300, 0), 0);
    const [, c1, c2] = /C([\d.-]+),\S+ ([\d.-]+),/.exec(d)!.map(Number);
    expect(c1).toBeGreaterThan(100);
    expect(c2).toBeLessThan(-300);
  });

  it('have marks at both ends, but not at a port', () => {
    expect(portPath(pair(200, 0), 0)).toBe('M100,20h0M200,20h0');
    expect(portPath(pair(200, 0, BoxKind.Port), 0)).toBe('M100,20h0');
  });

  it('get wider with the number of tensors, within bounds', () => {
    expect(edgeWidth(1)).toBeLessThan(edgeWidth(4));
    expect(edgeWidth(1e9)).toBeLessThan(4);
  });

  it('have a label anchor on the horizontal part', () => {
    expect(labelAnchor(pair(200, 0), 0)).toMatchObject({
      x: 150,
      y: 20,
      length: 100
    });
    const steep = labelAnchor(pair(200, 300), 0)!;
    expect(steep.length).toBeLessThan(50);
    expect(labelAnchor(pair(50, 0), 0)).toBeNull();
  });
});

describe('levels of detail', () => {
  it.each([
    [0.01, Lod.Aggregated],
    [0.06, Lod.Overview],
    [0.3, Lod.Overview],
    [0.31, Lod.Compact],
    [0.79, Lod.Compact],
    [0.8, Lod.Full],
    [4, Lod.Full]
  ])('at zoom %f draws level %i', (k, lod) => {
    expect(lodOf(k)).toBe(lod);
  });

  it('change their key only at a new level, and keep titles near 11 pixels', () => {
    expect(detailKey(0.85)).toBe(detailKey(3));
    expect(detailKey(0.5)).not.toBe(detailKey(0.7));
    for (const k of [0.35, 0.5, 0.7]) {
      expect(compactTitleSize(k) * k).toBeGreaterThan(9);
      expect(compactTitleSize(k) * k).toBeLessThan(13);
    }
  });
});

describe('culling', () => {
  const view = { w: 1000, h: 600 };

  it('covers the view with tiles that are stable over small moves', () => {
    const camera = { x: 5000, y: 300, k: 1 };
    const a = tileAlignedRect(camera, view);
    expect(a.x).toBeLessThanOrEqual(4500);
    expect(a.x + a.w).toBeGreaterThanOrEqual(5500);
    expect(a.w).toBeLessThan(1600);
    expect(tileAlignedRect({ ...camera, x: 5003 }, view)).toEqual(a);
  });
});

describe('zoomed-out graphs', () => {
  const scene = fromBoxes(
    [
      node(0, 0, BoxKind.OpenGroup),
      node(0, 0, BoxKind.Input),
      node(300, 0, BoxKind.Output),
      node(305, 200, BoxKind.Output)
    ],
    [
      { source: 1, target: 2, tensor: 0 },
      { source: 1, target: 3, tensor: 0 },
      { source: 1, target: 3, tensor: 1 }
    ],
    () => -1
  );
  const model = { category: () => 'layer' } as never;

  it('keep every coloured area within one cell and omit panels', () => {
    const { runs, rects } = aggregateBoxes(
      scene,
      new BoxColors(scene, model, null),
      50,
      20
    );
    expect(runs).toHaveLength(1);
    const covered = (x: number, y: number): boolean => {
      for (let i = 0; i < rects.length; i += 4) {
        if (
          x >= rects[i] &&
          x < rects[i] + rects[i + 2] &&
          y >= rects[i + 1] &&
          y < rects[i + 1] + rects[i + 3]
        ) {
          return true;
        }
      }
      return false;
    };
    expect(covered(50, 20)).toBe(true);
    expect(covered(350, 220)).toBe(true);
    expect(covered(200, 20)).toBe(false);
    expect(covered(50, 220)).toBe(false);
  });

  it('merge edges between the same cells', () => {
    expect(aggregateEdges(scene, 100, 100).length / 4).toBe(2);
  });

  it('place a title next to an earlier one or omit it', () => {
    const occupied = [{ x: 10, y: 0, w: 50, h: 13 }];
    expect(findFreeX(occupied, 10, 4, 30, 200)).toBe(60);
    expect(findFreeX(occupied, 10, 40, 30, 200)).toBe(10);
    expect(findFreeX(occupied, 10, 4, 30, 80)).toBeNull();
  });
});
