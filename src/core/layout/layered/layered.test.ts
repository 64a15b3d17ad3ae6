import { describe, expect, it } from 'vitest';
import { findFaults, wireLength } from '../../testing/geometry';
import { Random } from '../../testing/random';
import { layered } from './layered';
import { simpleInput } from '../../testing/layoutInput';
import { randomGraph, withPorts } from '../../testing/randomInput';
import type { ILayoutInput } from './layoutTypes';
import { PIN } from './layoutTypes';

const CLEAN = { overlaps: 0, backward: 0, through: 0, detached: 0, outside: 0 };

describe('layered layout of random graphs', () => {
  it('has no faults on 300 acyclic graphs', () => {
    for (let seed = 0; seed < 300; seed++) {
      const input = randomGraph(new Random(seed), false);
      expect({ seed, ...findFaults(input, layered(input)) }).toEqual({
        seed,
        ...CLEAN
      });
    }
  });

  it('has no faults with ports, trunks and pinned ends', () => {
    for (let seed = 0; seed < 300; seed++) {
      const random = new Random(seed);
      const input = withPorts(random, randomGraph(random, false));
      const result = layered(input);
      expect({ seed, ...findFaults(input, result) }).toEqual({
        seed,
        ...CLEAN
      });
      for (let v = 0; v < input.itemCount; v++) {
        if (input.pin[v] === PIN.first) {
          expect(result.rank[v]).toBe(0);
        }
      }
    }
  });

  it('routes cycles around items', () => {
    for (let seed = 0; seed < 200; seed++) {
      const random = new Random(seed);
      const input = withPorts(random, randomGraph(random, true));
      const faults = findFaults(input, layered({ ...input }));
      expect({ seed, ...faults, backward: 0 }).toEqual({ seed, ...CLEAN });
    }
  });

  it('routes edges longer than maxSpan columns along a lane', () => {
    const options = {
      itemGap: 20,
      rankGap: 40,
      portGap: 40,
      portWidth: 0,
      wireGap: 10,
      maxSpan: 3,
      sweeps: 8
    };
    for (let seed = 0; seed < 100; seed++) {
      const input = randomGraph(new Random(seed), false);
      const faults = findFaults(input, layered(input, options));
      expect({ seed, ...faults }).toEqual({ seed, ...CLEAN });
    }
  });

  it('is deterministic', () => {
    for (let seed = 0; seed < 20; seed++) {
      const random = new Random(seed);
      const input = withPorts(random, randomGraph(random, true));
      expect(layered(input)).toEqual(layered(input));
    }
  });
});

describe('layered layout of special graphs', () => {
  it('accepts an empty graph', () => {
    const result = layered(simpleInput([], [], [], []));
    expect([result.width, result.height, result.points.length]).toEqual([
      0, 0, 0
    ]);
  });

  it('puts one item at the top left', () => {
    const result = layered(simpleInput([80], [30], [0], [0]));
    expect([result.x[0], result.y[0]]).toEqual([40, 15]);
    expect([result.width, result.height]).toEqual([80, 30]);
    expect(result.points.length).toBe(0);
  });

  it('draws a chain as one straight line', () => {
    const source = Array.from({ length: 9 }, (_, i) => i);
    const target = source.map(i => i + 1);
    const sizes = Array.from({ length: 10 }, () => 40);
    const result = layered(simpleInput(sizes, sizes, source, target));
    expect(new Set(result.y).size).toBe(1);
    expect(Array.from(result.rank)).toEqual([...source, 9]);
  });

  it('keeps the main path straight next to skip edges', () => {
    // Ten residual blocks of three items.
    const source: number[] = [];
    const target: number[] = [];
    for (let block = 0; block < 10; block++) {
      const first = block * 3;
      source.push(first, first + 1, first + 2, first);
      target.push(first + 1, first + 2, first + 3, first + 3);
    }
    const sizes = Array.from({ length: 31 }, () => 40);
    const result = layered(simpleInput(sizes, sizes, source, target));
    expect(new Set(result.y).size).toBe(1);
    expect(result.crossings).toBe(0);
  });

  it('spreads parallel branches evenly around the main path', () => {
    const branches = 9;
    const source: number[] = [];
    const target: number[] = [];
    for (let b = 1; b <= branches; b++) {
      source.push(0, b);
      target.push(b, branches + 1);
    }
    const sizes = Array.from({ length: branches + 2 }, () => 40);
    const result = layered(simpleInput(sizes, sizes, source, target));
    const middle = result.y[0];
    const above = result.y.filter(y => y < middle - 1).length;
    const below = result.y.filter(y => y > middle + 1).length;
    expect([above, below]).toEqual([4, 4]);
    expect(result.y[branches + 1]).toBeCloseTo(middle);
  });

  it('places a late side input next to its consumer', () => {
    // 0 -> 1 -> 2 -> 3 -> 4 and a side chain 5 -> 6 -> 4.
    const result = layered(
      simpleInput(
        [40, 40, 40, 40, 40, 40, 40],
        [20, 20, 20, 20, 20, 20, 20],
        [0, 1, 2, 3, 5, 6],
        [1, 2, 3, 4, 6, 4]
      )
    );
    expect(Array.from(result.rank)).toEqual([0, 1, 2, 3, 4, 2, 3]);
  });

  it('shares one edge among the consumers of a tensor', () => {
    const chain = Array.from({ length: 12 }, (_, i) => i);
    const source = [...chain.slice(0, -1), ...chain.slice(2).map(() => 0)];
    const target = [...chain.slice(1), ...chain.slice(2)];
    const sizes = chain.map(() => 40);
    const shared = simpleInput(sizes, sizes, source, target);
    const separate = {
      ...shared,
      trunk: Int32Array.from(source, (_, e) => e)
    };
    const [joined, separated] = [layered(shared), layered(separate)];
    expect(findFaults(shared, joined)).toEqual(CLEAN);
    expect(joined.height).toBeLessThan(separated.height);
    expect(wireLength(joined)).toBeLessThanOrEqual(wireLength(separated));
  });

  it('separates edges to two ports of one item', () => {
    // Items 0 and 1 lead into item 2; item 0 (listed first) uses the lower port.
    const input: ILayoutInput = {
      ...simpleInput([40, 40, 90], [20, 20, 80], [0, 1], [2, 2]),
      targetOffset: Float64Array.from([25, -25])
    };
    const result = layered(input);
    expect(result.y[0]).toBeGreaterThan(result.y[1]);
    expect(result.crossings).toBe(0);
  });

  it('lays out chains of 20,000 items without overflowing the stack', () => {
    const count = 20000;
    const source = Array.from({ length: count - 1 }, (_, i) => i);
    const sizes = new Float64Array(count).fill(20);
    const result = layered(
      simpleInput(
        sizes,
        sizes,
        [...source, count - 1],
        [...source.map(i => i + 1), 0]
      )
    );
    expect(result.rank[count - 1]).toBe(count - 1);
    expect(result.width).toBeGreaterThan(count * 20);
  });
});
