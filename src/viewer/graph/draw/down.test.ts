// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { buildTree, createGraphView, decodePayload } from '../../../core';
import {
  BoxKind,
  type IGraphModel,
  type IGraphView,
  type IScene,
  type ITree
} from '../../../core/types';
import { initialCamera } from '../geometry/camera';
import { edgePath, labelAnchor } from '../geometry/wirePath';
import { SpatialIndex } from '../scene/spatialIndex';
import { SceneAdjacency } from '../scene/sceneAdjacency';
import { createSizer } from '../cards/cardSizer';
import { titleRoom } from './titleRoom';
import { GraphSurface } from '../surface';
import { encoderPayload } from '../testing/payload';

const VIEW = { w: 1000, h: 600 };
let model: IGraphModel;
let tree: ITree;
let view: IGraphView;
let scene: IScene;

beforeEach(async () => {
  Object.defineProperty(HTMLElement.prototype, 'clientWidth', {
    value: VIEW.w,
    configurable: true
  });
  Object.defineProperty(HTMLElement.prototype, 'clientHeight', {
    value: VIEW.h,
    configurable: true
  });
  model = decodePayload(encoderPayload(3, 3));
  const groups = buildTree(model);
  tree = groups;
  view = createGraphView(groups, createSizer(model, groups));
  await view.expandAll(1000);
  scene = await view.setDirection('down');
});

afterEach(() => document.body.replaceChildren());

/** Boxes of a kind. */
function boxes(kind: BoxKind): number[] {
  return [...scene.boxKind.keys()].filter(b => scene.boxKind[b] === kind);
}

describe('top-to-bottom graph', () => {
  it('draws edges that leave and enter vertically', () => {
    for (let e = 0; e < scene.edgeCount; e++) {
      const path = edgePath(scene, e);
      const numbers = (path.match(/C[^CVM]*/g) ?? []).map(curve =>
        curve.slice(1).split(/[ ,]/).map(Number)
      );
      expect(path).not.toContain('H');
      // The last control point lies straight above the end.
      numbers.forEach(([, , x2, , x3]) => expect(x2).toBeCloseTo(x3, 0));
    }
  });

  it('finds an edge under the pointer along its curve', () => {
    const index = new SpatialIndex(scene);
    let count = 0;
    for (let e = 0; e < scene.edgeCount; e++) {
      const i = scene.edgeOffsets[e];
      const [x0, y0, x1, y1] = scene.edgePoints.subarray(2 * i, 2 * i + 4);
      if (Math.abs(x1 - x0) > 40 && y1 > y0) {
        // At a quarter of an upright S-curve, the wire is still close to its start.
        const x = x0 + (x1 - x0) * 0.15625;
        const y = y0 + (y1 - y0) * 0.34375;
        const edge = index.pickEdge(x, y, 3);
        expect(scene.edgeSource[edge]).toBe(scene.edgeSource[e]);
        count++;
      }
    }
    expect(count).toBeGreaterThan(2);
  });

  it('has labels right of its edges', () => {
    const anchors = Array.from({ length: scene.edgeCount }, (_, e) =>
      labelAnchor(scene, e)
    );
    expect(anchors.some(anchor => anchor !== null)).toBe(true);
    expect(anchors.every(anchor => anchor === null || anchor.isBeside)).toBe(
      true
    );
  });

  it('keeps titles clear of edges that enter through the title bar', () => {
    const sizer = createSizer(model, tree);
    const panels = boxes(BoxKind.OpenGroup);
    expect(panels.length).toBeGreaterThan(2);
    for (const panel of panels) {
      const group = scene.boxEntity[panel] - model.nodeCount;
      const text = Math.min(220, sizer.title(group));
      expect(titleRoom(scene, panel)).toBeGreaterThanOrEqual(text - 8);
    }
  });

  it('is navigated with arrow keys in its direction', () => {
    const links = new SceneAdjacency(scene);
    const [input] = boxes(BoxKind.Input);
    const next = links.neighbourIn(input, 'down');
    expect(scene.boxY[next]).toBeGreaterThan(scene.boxY[input]);
    expect(links.neighbourIn(next, 'up')).toBe(input);
    const branches = links.outgoing(next);
    expect(branches.length).toBeGreaterThan(0);
    for (const b of boxes(BoxKind.Node)) {
      const neighbour = links.neighbourIn(b, 'right');
      if (neighbour >= 0) {
        expect(scene.boxX[neighbour] + scene.boxW[neighbour]).toBeGreaterThan(
          scene.boxX[b]
        );
      }
    }
  });

  it('starts at its top', () => {
    const long = { w: 400, h: 20_000 };
    const { x, y, k } = initialCamera(long, VIEW, 'down');
    expect(x).toBe(200);
    expect((y - VIEW.h / 2 / k) * k).toBeCloseTo(-24);
  });
});

describe('change of direction', () => {
  function surfaceOf(first: IScene): GraphSurface {
    const host = document.createElement('div');
    document.body.append(host);
    const surface = new GraphSurface(host, { reducedMotion: true });
    surface.setScene(first, model, tree);
    return surface;
  }

  it('shows the start again if the user has not moved the view', async () => {
    const across = await view.setDirection('right');
    const surface = surfaceOf(across);
    surface.setScene(await view.setDirection('down'), model, tree, {
      animateFrom: across
    });
    const { y, k } = surface.camera;
    expect((y - VIEW.h / 2 / k) * k).toBeCloseTo(-24, 0);
    surface.dispose();
  });

  it('keeps the box in the centre where it is', async () => {
    const across = await view.setDirection('right');
    const surface = surfaceOf(across);
    const node = boxes(BoxKind.Node).length >> 1;
    const entity = scene.boxEntity[boxes(BoxKind.Node)[node]];
    surface.zoomTo(entity, false);
    const boxOrder = (now: IScene) => {
      const box = now.boxOf(entity);
      const { x, y, k } = surface.camera;
      return [(now.boxX[box] - x) * k, (now.boxY[box] - y) * k];
    };
    const before = boxOrder(across);
    const down = await view.setDirection('down');
    surface.setScene(down, model, tree, { animateFrom: across });
    boxOrder(down).forEach((coordinate, i) =>
      expect(coordinate).toBeCloseTo(before[i], 3)
    );
    surface.dispose();
  });

  it('centres the given box, or shows the start of a larger one', async () => {
    const across = await view.setDirection('right');
    const surface = surfaceOf(across);
    const entity = scene.boxEntity[boxes(BoxKind.Node).at(-1)!];
    const around = scene.boxEntity[boxes(BoxKind.OpenGroup)[0]];
    // At the right edge, partly covered by a panel.
    surface.zoomTo(entity, false);
    const { x, y, k } = surface.camera;
    surface.setCamera({ x: x - (0.45 * VIEW.w) / k, y, k });
    const down = await view.setDirection('down');
    surface.setScene(down, model, tree, { anchorEntity: entity });
    const box = down.boxOf(entity);
    expect(surface.camera).toEqual({
      x: down.boxX[box] + down.boxW[box] / 2,
      y: down.boxY[box] + down.boxH[box] / 2,
      k
    });
    const restored = await view.setDirection('right');
    surface.setScene(restored, model, tree, { anchorEntity: around });
    const panel = restored.boxOf(around);
    expect(restored.boxW[panel] * k).toBeGreaterThan(VIEW.w);
    const left = (restored.boxX[panel] - surface.camera.x) * k + VIEW.w / 2;
    expect(left).toBeCloseTo(0.1 * VIEW.w, 3);
    surface.dispose();
  });
});
