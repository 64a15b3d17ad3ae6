import { expect, it } from 'vitest';
import { BoxKind } from '../../core/types';
import { fromBoxes } from '../graph/testing/scene';
import { freerCorner } from './legendCorner';

const VIEW = { w: 1000, h: 600 };
/** World units are pixels from the pane's corner. */
const CAMERA = { x: 500, y: 300, k: 1 };

type Place = readonly [x: number, y: number, w: number, h: number];

function corner(...places: Place[]) {
  const boxes = places.map(([x, y, w, h], entity) => ({
    kind: BoxKind.Node as const,
    entity,
    x,
    y,
    w,
    h,
    depth: 0,
    parent: -1
  }));
  return freerCorner(
    fromBoxes(boxes, [], entity => entity),
    CAMERA,
    VIEW
  );
}

it('the legend is at the left if nothing is below it', () => {
  expect(corner([100, 100, 80, 40])).toBe('left');
  expect(corner([100, 100, 80, 40], [900, 550, 80, 40])).toBe('left');
});

it('the legend is at the right if the last row is short', () => {
  expect(corner([40, 520, 120, 60])).toBe('right');
});

it('the legend stays if both corners are covered equally', () => {
  expect(corner([40, 520, 120, 60], [840, 520, 120, 60])).toBe('left');
});
