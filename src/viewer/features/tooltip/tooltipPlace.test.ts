import { expect, test } from 'vitest';
import { BoxKind, type IScene } from '../../../core/types';
import { anchorOf, isOver } from './tooltipAnchor';
import { placeTooltip } from './tooltipPlace';

const GAP = 6;
const pane = { w: 400, h: 300 };
const tip = { w: 120, h: 80 };

test('a tooltip is below its box, else above, right or left, and inside the pane', () => {
  const placeIn = (x: number, y: number, w: number, h: number) =>
    placeTooltip({ x, y, w, h }, tip, pane);
  expect(placeIn(50, 40, 60, 30)).toEqual({ x: 50, y: 70 + GAP });
  expect(placeIn(50, 240, 60, 30)).toEqual({ x: 50, y: 240 - GAP - 80 });
  expect(placeIn(390, 40, 60, 30)).toEqual({ x: 400 - 120 - GAP, y: 70 + GAP });
  expect(placeIn(-30, 40, 60, 30)).toEqual({ x: GAP, y: 70 + GAP });
  expect(placeIn(50, -20, 60, 310)).toEqual({ x: 110 + GAP, y: GAP });
  expect(placeIn(200, -20, 180, 310)).toEqual({ x: 200 - 120 - GAP, y: GAP });
  expect(placeIn(-20, -20, 500, 400)).toBeNull();
});

test('the tooltip of an expanded block is above its title, else below', () => {
  const boxAt = (y: number) =>
    placeTooltip({ x: 50, y, w: 60, h: 30 }, tip, pane, true);
  expect(boxAt(120)).toEqual({ x: 50, y: 120 - GAP - 80 });
  expect(boxAt(40)).toEqual({ x: 50, y: 70 + GAP });
});

test.each([false, true])(
  'a tooltip never covers its box (above: %s)',
  above => {
    let count = 0;
    for (let x = -80; x < 400; x += 37) {
      for (let y = -80; y < 300; y += 29) {
        for (const size of [10, 90, 130, 170]) {
          const actual = placeTooltip(
            { x, y, w: size, h: size },
            tip,
            pane,
            above
          );
          if (actual) {
            count++;
            const isDisjoint =
              actual.x >= x + size ||
              actual.x + tip.w <= Math.max(0, x) ||
              actual.y >= y + size ||
              actual.y + tip.h <= Math.max(0, y);
            expect(isDisjoint).toBe(true);
            expect(actual.x).toBeGreaterThanOrEqual(0);
            expect(actual.y).toBeGreaterThanOrEqual(0);
            expect(actual.x + tip.w).toBeLessThanOrEqual(pane.w);
            expect(actual.y + tip.h).toBeLessThanOrEqual(pane.h);
          }
        }
      }
    }
    expect(count).toBeGreaterThan(300);
  }
);

function sceneOf(kind: BoxKind): IScene {
  return {
    boxCount: 1,
    boxKind: Uint8Array.of(kind),
    boxX: Float64Array.of(10),
    boxY: Float64Array.of(20),
    boxW: Float64Array.of(100),
    boxH: Float64Array.of(200)
  } as unknown as IScene;
}

test('a box has a tooltip anywhere on it, an expanded block on its title, a stub and a port nowhere', () => {
  const camera = { x: 0, y: 0, k: 0.5 };
  const viewport = { camera, view: pane };
  const legend = { x: 205, y: 160, w: 50, h: 100 };
  for (const kind of [BoxKind.Node, BoxKind.Group, BoxKind.Input]) {
    expect(anchorOf(sceneOf(kind), 0, viewport)).toEqual(legend);
  }
  const open = anchorOf(sceneOf(BoxKind.OpenGroup), 0, viewport);
  expect(open).toMatchObject({ x: 205, y: 160, w: 50 });
  expect(open!.h).toBeLessThan(20);
  expect(isOver(open!, { x: 230, y: 165 })).toBe(true);
  expect(isOver(open!, { x: 230, y: 200 })).toBe(false);
  for (const kind of [BoxKind.Stub, BoxKind.Port]) {
    expect(anchorOf(sceneOf(kind), 0, viewport)).toBeNull();
  }
  expect(anchorOf(sceneOf(BoxKind.Node), 1, viewport)).toBeNull();
  expect(anchorOf(sceneOf(BoxKind.Node), -1, viewport)).toBeNull();
});
