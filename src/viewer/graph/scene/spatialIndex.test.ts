import { describe, expect, it } from 'vitest';
import { BoxKind, type IScene } from '../../../core/types';
import { SpatialIndex } from './spatialIndex';
import { fromBoxes } from '../testing/scene';

/** A reproducible sequence of numbers in 0 … 1 (mulberry32). */
function random(seed: number): () => number {
  let a = seed;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

function scattered(count: number, seed: number): IScene {
  const next = random(seed);
  const boxes = Array.from({ length: count }, (_, i) => ({
    kind: i % 7 === 0 ? BoxKind.OpenGroup : BoxKind.Node,
    entity: i,
    x: next() * 9000,
    y: next() * 3000,
    w: 20 + next() * (i % 7 === 0 ? 6000 : 200),
    h: 20 + next() * (i % 7 === 0 ? 2500 : 80),
    depth: 0,
    parent: -1
  }));
  const links = Array.from({ length: count }, (_, i) => ({
    source: i,
    target: Math.floor(next() * count),
    tensor: i
  }));
  return fromBoxes(boxes, links, entity => entity);
}

describe('SpatialIndex', () => {
  const scene = scattered(700, 7);
  const index = new SpatialIndex(scene);

  it('finds exactly the boxes that touch a rectangle', () => {
    const next = random(11);
    for (let i = 0; i < 60; i++) {
      const r = {
        x: next() * 9000 - 500,
        y: next() * 3000 - 200,
        w: next() * 2500,
        h: next() * 900
      };
      const expected: number[] = [];
      for (let b = 0; b < scene.boxCount; b++) {
        const right = scene.boxX[b] + scene.boxW[b];
        const bottom = scene.boxY[b] + scene.boxH[b];
        if (
          scene.boxX[b] <= r.x + r.w &&
          right >= r.x &&
          scene.boxY[b] <= r.y + r.h &&
          bottom >= r.y
        ) {
          expected.push(b);
        }
      }
      expect(index.boxesIn(r).sort((a, b) => a - b)).toEqual(expected);
      expect(index.countBoxes(r)).toBeGreaterThanOrEqual(expected.length);
    }
  });

  it('misses no edge whose ends lie in the rectangle', () => {
    for (let e = 0; e < scene.edgeCount; e += 13) {
      const start = 2 * scene.edgeOffsets[e];
      const [x, y] = [scene.edgePoints[start], scene.edgePoints[start + 1]];
      expect(index.edgesIn({ x: x - 1, y: y - 1, w: 2, h: 2 })).toContain(e);
    }
  });

  it('picks the innermost box, and an expanded group only at its title', () => {
    const next = random(23);
    for (let i = 0; i < 300; i++) {
      const [x, y] = [next() * 9000, next() * 3000];
      let expected = -1;
      for (let b = 0; b < scene.boxCount; b++) {
        const tall =
          scene.boxKind[b] === BoxKind.OpenGroup
            ? Math.min(32, scene.boxH[b])
            : scene.boxH[b];
        const inside =
          x >= scene.boxX[b] &&
          x <= scene.boxX[b] + scene.boxW[b] &&
          y >= scene.boxY[b] &&
          y <= scene.boxY[b] + tall;
        expected = inside ? b : expected;
      }
      expect(index.pick(x, y)).toBe(expected);
    }
  });

  it('picks the closest edge within reach, along its curve', () => {
    const box = (x: number, y: number) => ({
      kind: BoxKind.Node,
      entity: 0,
      x,
      y,
      w: 40,
      h: 20,
      depth: 0,
      parent: -1
    });
    const two = fromBoxes(
      [box(0, 0), box(240, 200), box(240, 0)],
      [
        { source: 0, target: 1, tensor: 5 },
        { source: 0, target: 2, tensor: 6 }
      ],
      () => -1
    );
    const wires = new SpatialIndex(two);
    expect(wires.pickEdge(140, 110, 4)).toBe(0);
    expect(wires.pickEdge(200, 11, 4)).toBe(1);
    expect(wires.pickEdge(140, 160, 4)).toBe(-1);
  });

  it('accepts an empty scene', () => {
    const empty = new SpatialIndex({
      ...scene,
      boxCount: 0,
      edgeCount: 0,
      width: 0,
      height: 0
    });
    expect(empty.pick(0, 0)).toBe(-1);
    expect(empty.boxesIn({ x: 0, y: 0, w: 10, h: 10 })).toEqual([]);
  });
});
