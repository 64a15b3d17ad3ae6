import { describe, expect, it } from 'vitest';
import { Random } from '../../testing/random';
import { classifyEdges } from './cycleRemoval';
import { simpleInput } from '../../testing/layoutInput';
import { assignRanks } from './rankAssignment';
import type { ILayoutInput } from './layoutTypes';
import { PIN } from './layoutTypes';

function randomDag(random: Random, count: number): ILayoutInput {
  const wires = new Set<string>();
  for (let v = 1; v < count; v++) {
    for (let i = 1 + random.int(2); i > 0; i--) {
      wires.add(`${random.int(v)} ${v}`);
    }
  }
  const ends = [...wires].map(wire => wire.split(' ').map(Number));
  const sizes = Array.from({ length: count }, () => 20 + random.int(60));
  return simpleInput(
    sizes,
    sizes,
    ends.map(([s]) => s),
    ends.map(([, t]) => t)
  );
}

const ranksOf = (input: ILayoutInput) =>
  assignRanks(
    input,
    classifyEdges(input.itemCount, input.source, input.target, input.pin)
  );

function total(input: ILayoutInput, rank: ArrayLike<number>): number {
  let sum = 0;
  input.source.forEach((s, e) => {
    sum += rank[input.target[e]] - rank[s];
  });
  return sum;
}

/** The least sum of spans, by exhaustive search; the items are in topological order. */
function leastTotal(input: ILayoutInput): number {
  const rank = new Int32Array(input.itemCount);
  let least = Infinity;
  const assign = (v: number): void => {
    if (v === input.itemCount) {
      least = Math.min(least, total(input, rank));
      return;
    }
    let low = 0;
    input.source.forEach((s, e) => {
      if (input.target[e] === v) {
        low = Math.max(low, rank[s] + 1);
      }
    });
    for (rank[v] = low; rank[v] < input.itemCount; rank[v]++) {
      assign(v + 1);
    }
  };
  assign(0);
  return least;
}

describe('rank assignment', () => {
  it('minimizes the total edge length', () => {
    for (let seed = 0; seed < 60; seed++) {
      const input = randomDag(new Random(seed), 3 + (seed % 5));
      const length = total(input, ranksOf(input));
      expect({ seed, found: length }).toEqual({
        seed,
        found: leastTotal(input)
      });
    }
  });

  it('keeps every edge pointing right and pinned items at the ends', () => {
    for (let seed = 0; seed < 100; seed++) {
      const random = new Random(seed);
      const input = randomDag(random, 60);
      const [sources, targets] = [new Set(input.source), new Set(input.target)];
      const pin = input.pin.map((_, v) =>
        !targets.has(v) && random.chance(0.5)
          ? PIN.first
          : !sources.has(v) && random.chance(0.5)
            ? PIN.last
            : PIN.none
      );
      const rank = ranksOf({ ...input, pin });
      const last = Math.max(...rank);
      input.source.forEach((s, e) => {
        expect(rank[input.target[e]]).toBeGreaterThan(rank[s]);
      });
      pin.forEach((p, v) => {
        const expected = p === PIN.first ? 0 : p === PIN.last ? last : rank[v];
        expect(rank[v]).toBe(expected);
      });
    }
  });

  it('finishes quickly for a wide, deep graph', () => {
    const input = randomDag(new Random(1), 20_000);
    const rank = ranksOf(input);
    input.source.forEach((s, e) => {
      expect(rank[input.target[e]] > rank[s]).toBe(true);
    });
  });
});
