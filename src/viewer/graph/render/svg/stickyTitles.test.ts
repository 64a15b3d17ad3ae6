// @vitest-environment jsdom
import { beforeEach, describe, expect, it } from 'vitest';
import { BoxKind } from '../../../../core/types';
import { StickyTitles, titleShift } from './stickyTitles';
import { svgElement } from './svgTarget';
import { fromBoxes } from '../../testing/scene';

const view = { w: 1000, h: 600 };
const EXTENT = 220;
const scene = fromBoxes(
  [
    {
      kind: BoxKind.OpenGroup,
      entity: 0,
      x: 0,
      y: 0,
      w: 4000,
      h: 40,
      depth: 0,
      parent: -1
    }
  ],
  [],
  () => -1
);
const camera = (x: number, k = 1) => ({ x, y: 0, k });

it('the title of an expanded group moves into view, but not beyond its end', () => {
  const shift = (x: number) => titleShift(scene, 0, camera(x), view, EXTENT);
  expect(shift(300)).toBe(0);
  expect(shift(2500)).toBe(2000);
  expect(shift(9000)).toBe(4000 - EXTENT - 9);
});

describe('titles during motion', () => {
  let titles: StickyTitles;
  let element: SVGGElement;
  const moveTo = (x: number, moving = true, changed = false, k = 1): number => {
    titles.place(scene, camera(x, k), view, moving, changed);
    return titles.shiftOf(0);
  };

  beforeEach(() => {
    titles = new StickyTitles();
    element = svgElement('g');
    titles.add(0, element, EXTENT);
    moveTo(1000);
  });

  it('follow each frame of a slow motion', () => {
    expect([1005, 1010, 1021].map(x => moveTo(x))).toEqual([505, 510, 521]);
    expect(element.getAttribute('transform')).toBe('translate(521,0)');
  });

  it('are updated every few frames of a fast motion', () => {
    const shifts = [1025, 1050, 1075, 1100, 1125].map(x => moveTo(x));
    expect(shifts).toEqual([500, 500, 500, 600, 600]);
  });

  it('depend on the speed on screen', () => {
    expect(moveTo(6000, false, false, 0.1)).toBe(1000);
    expect(moveTo(6100, true, false, 0.1)).toBe(1100);
    expect(moveTo(6300, true, false, 0.1)).toBe(1100);
  });

  it('are in place when the graph is repainted, and at rest', () => {
    expect(moveTo(1050)).toBe(500);
    expect(moveTo(1100, true, true)).toBe(600);
    expect(moveTo(1150)).toBe(600);
    expect(moveTo(1200, false)).toBe(700);
  });

  it('drop boxes that are no longer drawn', () => {
    titles.drop(0);
    expect(moveTo(2500, false)).toBe(0);
    expect(element.getAttribute('transform')).toBe('translate(500,0)');
  });
});
