import { beforeAll, describe, expect, it } from 'vitest';
import { decodePayload } from '../../../core/model/decodePayload';
import { chainPayload } from '../../../core/testing/payloads';
import { plainSizer } from '../../../core/testing/sizer';
import { buildTree } from '../../../core/tree/groupTree';
import type { IScene } from '../../../core/types';
import { createGraphView } from '../../../core/view/graphView';
import { rowsCamera, toScreen } from '../geometry/camera';
import {
  edgePath,
  labelAnchor,
  returnArrowheads,
  returnArrowheadPath
} from '../geometry/wirePath';
import { autoCamera } from '../viewport/cameraPolicy';
import { SceneAdjacency } from '../scene/sceneAdjacency';

const PANE = { w: 700, h: 560 };
let rows: IScene;
let straight: IScene;

beforeAll(async () => {
  const model = decodePayload(chainPayload(30));
  const tree = buildTree(model);
  const view = createGraphView(tree, plainSizer(model, tree));
  straight = await view.restore([]);
  rows = await view.setFlow('wrapped', PANE);
});

/** Wires that return to the next row. */
function returning(scene: IScene): number[] {
  return Array.from({ length: scene.edgeCount }, (_, e) => e).filter(
    e =>
      scene.boxY[scene.edgeTarget[e]] >
      scene.boxY[scene.edgeSource[e]] + scene.boxH[scene.edgeSource[e]]
  );
}

describe('edges between rows', () => {
  it('have an arrowhead, edges within a row none', () => {
    const returns = returning(rows);
    expect(returns.length).toBeGreaterThan(2);
    for (let e = 0; e < rows.edgeCount; e++) {
      expect(returnArrowheads(rows, e).length).toBe(
        returns.includes(e) ? 6 : 0
      );
    }
    for (let e = 0; e < straight.edgeCount; e++) {
      expect(returnArrowheadPath(straight, e)).toBe('');
    }
  });

  it('point to the left', () => {
    const [ax, ay, tip, y, bx, by] = returnArrowheads(rows, returning(rows)[0]);
    expect(tip).toBeLessThan(Math.min(ax, bx));
    expect([ay + by, ax]).toEqual([2 * y, bx]);
  });

  it('have rounded corners, and labels on their returning part', () => {
    const e = returning(rows)[0];
    expect(edgePath(rows, e).match(/Q/g)).toHaveLength(4);
    const anchor = labelAnchor(rows, e)!;
    const [, , , y] = returnArrowheads(rows, e);
    expect(anchor.y).toBe(y);
    expect(anchor.isBeside).toBe(false);
  });
});

describe('the camera', () => {
  it('shows all rows if they are readable', () => {
    const camera = autoCamera(rows, PANE, 'home');
    expect(camera.k).toBeGreaterThanOrEqual(0.5);
    const corner = toScreen(camera, PANE, rows.width, rows.height);
    expect(corner.x).toBeLessThanOrEqual(PANE.w);
    expect(corner.y).toBeLessThanOrEqual(PANE.h);
  });

  it('starts at the first rows, as wide as the pane, if they are too high', () => {
    const scene = { w: 1000, h: 9000 };
    const camera = rowsCamera(scene, PANE);
    expect(camera.k).toBeCloseTo(652 / 1000);
    const first = toScreen(camera, PANE, 0, 0);
    expect(first.x).toBeCloseTo(24);
    expect(first.y).toBeCloseTo(24);
  });

  it('starts at the left if they are also too wide', () => {
    const camera = rowsCamera({ w: 9000, h: 9000 }, PANE);
    expect(camera.k).toBe(0.5);
    expect(toScreen(camera, PANE, 0, 0).x).toBeCloseTo(24);
  });
});

describe('keyboard navigation in rows', () => {
  it('goes to the first box with Home and to the last with End', () => {
    const links = new SceneAdjacency(rows);
    const first = links.outermostBox(false);
    const last = links.outermostBox(true);
    for (let b = 0; b < rows.boxCount; b++) {
      const above = rows.boxY[b] + rows.boxH[b] <= rows.boxY[first];
      const sameRow = rows.boxY[b] < rows.boxY[first] + rows.boxH[first];
      expect(above || (sameRow && rows.boxX[b] < rows.boxX[first])).toBe(false);
    }
    for (let b = 0; b < rows.boxCount; b++) {
      const below = rows.boxY[b] >= rows.boxY[last] + rows.boxH[last];
      expect(below).toBe(false);
    }
    // Follows the wires from one end to the other, across all rows.
    let box = first;
    let steps = 0;
    for (; box !== last && steps < 100; steps++) {
      box = links.neighbourIn(box, 'right');
    }
    expect(box).toBe(last);
  });

  it('goes to the row below with down and back with up', () => {
    const links = new SceneAdjacency(rows);
    const first = links.outermostBox(false);
    const neighbour = links.neighbourIn(first, 'right');
    const below = links.neighbourIn(neighbour, 'down');
    expect(rows.boxY[below]).toBeGreaterThan(
      rows.boxY[neighbour] + rows.boxH[neighbour]
    );
    expect(rows.boxY[links.neighbourIn(below, 'up')]).toBeLessThan(
      rows.boxY[below]
    );
  });
});
