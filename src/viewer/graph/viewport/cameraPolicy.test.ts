import { expect, it } from 'vitest';
import { BoxKind, type IScene } from '../../../core/types';
import { cameraHoldingAnchor, OPENED_MARGIN } from './cameraPolicy';
import { fromBoxes } from '../testing/scene';

const VIEW = { w: 1000, h: 600 };
const CAMERA = { x: 500, y: 300, k: 1 };

/** A scene with a single box. */
function sceneOf(
  x: number,
  y: number,
  w: number,
  h: number,
  kind: BoxKind
): IScene {
  const box = { kind, entity: 7, x, y, w, h, depth: 0, parent: -1 };
  return fromBoxes([box], [], entity => (entity === 7 ? 0 : -1));
}

const closed = sceneOf(700, 100, 120, 60, BoxKind.Group);

it('an expanded box keeps its corner in place, and is shown entirely if it fits', () => {
  const open = sceneOf(680, 140, 500, 300, BoxKind.OpenGroup);
  const anchored = cameraHoldingAnchor(CAMERA, VIEW, closed, open, 7)!;
  expect(anchored.camera).toEqual({ x: 480, y: 340, k: 1 });
  expect(anchored.visible).toEqual({ x: 680, y: 140, w: 500, h: 300 });
});

it('the title of a box larger than the view is shown, per side', () => {
  const wide = sceneOf(700, 100, VIEW.w, 300, BoxKind.OpenGroup);
  expect(
    cameraHoldingAnchor(CAMERA, VIEW, closed, wide, 7)!.visible
  ).toMatchObject({
    w: 120,
    h: 300
  });
  const maxSize = VIEW.w - 2 * OPENED_MARGIN;
  const high = sceneOf(700, 100, maxSize, 5000, BoxKind.OpenGroup);
  const { w, h } = cameraHoldingAnchor(CAMERA, VIEW, closed, high, 7)!.visible;
  expect(w).toBe(maxSize);
  expect(h).toBeLessThan(40);
});

it('there is no anchor for a missing box', () => {
  expect(cameraHoldingAnchor(CAMERA, VIEW, closed, closed, null)).toBeNull();
  expect(cameraHoldingAnchor(CAMERA, VIEW, closed, closed, 8)).toBeNull();
});
