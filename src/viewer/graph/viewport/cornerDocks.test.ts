import { describe, expect, it, type Mock, vi } from 'vitest';
import { BoxKind } from '../../../core/types';
import type { IRect } from '../geometry/camera';
import {
  coveredWeight,
  CornerDocks,
  type IDockedItem,
  type IDockPlace,
  type IDockView,
  chooseDock
} from './cornerDocks';
import { SpatialIndex } from '../scene/spatialIndex';
import { fromBoxes } from '../testing/scene';

type Rect = readonly [x: number, y: number, w: number, h: number];

/** Boxes at screen positions: one world unit per pixel, the origin at the corner of the view. */
function sightOf(
  rects: readonly Rect[],
  view = { w: 1000, h: 600 },
  kind = BoxKind.Node
): IDockView {
  const boxes = rects.map(([x, y, w, h], entity) => ({
    kind,
    entity,
    x,
    y,
    w,
    h,
    depth: 0,
    parent: -1
  }));
  const scene = fromBoxes(boxes, [], entity => entity);
  return {
    scene,
    index: new SpatialIndex(scene),
    camera: { x: view.w / 2, y: view.h / 2, k: 1 },
    view
  };
}

const guest = (
  rank = 0
): IDockedItem & { place: Mock<IDockedItem['place']> } => ({
  corners: ['bottom-left', 'bottom-right', 'top-left', 'top-right'],
  size: () => ({ w: 200, h: 120 }),
  slim: { w: 200, h: 20 },
  rank,
  place: vi.fn<IDockedItem['place']>()
});

const rect = (x: number, y: number, w: number, h: number): IRect => ({
  x,
  y,
  w,
  h
});

const BOTTOM_LEFT: Rect = [50, 500, 80, 40];
const BOTTOM: Rect = [50, 500, 900, 40];
const ALL: Rect = [24, 24, 952, 552];

describe('dock over the graph', () => {
  it('is the first corner without a box', () => {
    const dockOf = (rects: readonly Rect[]): string =>
      chooseDock(sightOf(rects), guest(), [], null).corner;
    expect(dockOf([])).toBe('bottom-left');
    expect(dockOf([BOTTOM_LEFT])).toBe('bottom-right');
    expect(dockOf([BOTTOM])).toBe('top-left');
  });

  it('prefers a corner without a border of an open group, and is a line if each has one', () => {
    const open = (...rects: readonly Rect[]): IDockPlace =>
      chooseDock(
        sightOf(rects, undefined, BoxKind.OpenGroup),
        guest(),
        [],
        null
      );
    expect(open([100, 100, 500, 460]).corner).toBe('bottom-right');
    expect(open([-50, -50, 2000, 2000]).corner).toBe('bottom-left');
    const everywhere = open([-50, 20, 1100, 560]);
    expect(everywhere).toEqual({ corner: 'bottom-left', slim: true });
  });

  it('is kept while it is free', () => {
    const now = { corner: 'top-right', slim: false } as const;
    expect(chooseDock(sightOf([]), guest(), [], now)).toEqual(now);
  });

  it('is a line in the padding if boxes fill the view or the view is low', () => {
    const full = sightOf([ALL]);
    const dock = chooseDock(full, guest(), [], null);
    expect(dock).toEqual({ corner: 'bottom-left', slim: true });
    expect(coveredWeight(full, { x: 2, y: 578, w: 200, h: 20 })).toBe(0);
    expect(
      chooseDock(sightOf([], { w: 1000, h: 300 }), guest(), [], null)
    ).toEqual({ corner: 'bottom-left', slim: true });
  });

  it('covers as few boxes as possible if no corner is free', () => {
    const { corner, slim } = chooseDock(
      sightOf([
        [0, 570, 1000, 30],
        [0, 0, 900, 30],
        [0, 0, 90, 10],
        [0, 590, 1000, 10]
      ]),
      guest(),
      [],
      null
    );
    expect({ corner, slim }).toEqual({ corner: 'top-right', slim: true });
  });

  it('may cover the background of an expanded block, but not its title', () => {
    const ground: Rect = [5, 100, 990, 490];
    const title: Rect = [5, 480, 990, 110];
    const dockOf = (rect: Rect): string =>
      chooseDock(
        sightOf([rect], undefined, BoxKind.OpenGroup),
        guest(),
        [],
        null
      ).corner;
    expect(dockOf(ground)).toBe('bottom-left');
    expect(dockOf(title)).toBe('top-left');
  });
});

describe('edges and their labels', () => {
  /** Two boxes at the top and a wire between them that runs along the bottom. */
  const wired = (y: number): IDockView => {
    const dockView = sightOf([
      [300, 20, 40, 20],
      [900, 20, 40, 20]
    ]);
    const scene = {
      ...dockView.scene,
      edgeCount: 1,
      edgeSource: Int32Array.of(0),
      edgeTarget: Int32Array.of(1),
      edgeTensor: Int32Array.of(0),
      edgeWeight: Int32Array.of(1),
      edgeOffsets: Int32Array.of(0, 4),
      edgePoints: Float64Array.of(340, 30, 340, y, 700, y, 900, 30)
    };
    return { ...dockView, scene, index: new SpatialIndex(scene) };
  };

  it('are kept free', () => {
    expect(chooseDock(wired(590), guest(), [], null).corner).toBe(
      'bottom-left'
    );
    const right = {
      ...guest(),
      corners: ['bottom-right', 'top-left'] as const
    };
    expect(chooseDock(sightOf([]), right, [], null).corner).toBe(
      'bottom-right'
    );
    const crossing = wired(570);
    const points = crossing.scene.edgePoints;
    points.set([340, 570, 980, 570, 980, 30], 2);
    const dockView = { ...crossing, index: new SpatialIndex(crossing.scene) };
    expect(chooseDock(dockView, right, [], null).corner).toBe('top-left');
  });

  it('count only if they are drawn', () => {
    const label = { x: 60, y: 560, text: '1×8', rect: rect(40, 550, 40, 10) };
    const labels = { in: () => [label] };
    const zoomedIn = { ...sightOf([]), labels };
    expect(coveredWeight(zoomedIn, rect(10, 466, 200, 124))).toBe(1);
    const zoomedOut = { ...zoomedIn, camera: { ...zoomedIn.camera, k: 0.5 } };
    expect(coveredWeight(zoomedOut, rect(10, 466, 200, 124))).toBe(0);
  });
});

describe('CornerDocks', () => {
  it('choose corners when the scene changes, not while panning', () => {
    const docks = new CornerDocks();
    const legend = guest();
    docks.add(legend);
    expect(legend.place).not.toHaveBeenCalled();
    docks.follow([1], () => sightOf([]));
    docks.follow([1], () => sightOf([BOTTOM_LEFT]));
    expect(legend.place.mock.calls).toEqual([
      [{ corner: 'bottom-left', slim: false }]
    ]);
    docks.follow([2], () => sightOf([BOTTOM_LEFT]));
    expect(legend.place).toHaveBeenLastCalledWith({
      corner: 'bottom-right',
      slim: false
    });
  });

  it('never overlap; the lower rank chooses first', () => {
    const docks = new CornerDocks();
    const strip = guest(1);
    const legend = guest(0);
    docks.follow([1], () => sightOf([]));
    docks.add(strip);
    docks.add(legend);
    expect(legend.place).toHaveBeenLastCalledWith({
      corner: 'bottom-left',
      slim: false
    });
    expect(strip.place).toHaveBeenLastCalledWith({
      corner: 'bottom-right',
      slim: false
    });
  });
});
