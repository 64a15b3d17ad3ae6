import { describe, expect, it } from 'vitest';
import { findFaults } from '../../testing/geometry';
import { simpleInput } from '../../testing/layoutInput';
import { Random } from '../../testing/random';
import { randomGraph, withPorts } from '../../testing/randomInput';
import { layered } from '../layered/layered';
import type { ILayoutInput, ILayoutResult } from '../layered/layoutTypes';
import { LAYOUT_OPTIONS, PIN } from '../layered/layoutTypes';
import { asRowedResult } from './rowedResult';
import { layOutInRows } from './inRows';

/** As levels are laid out: no wire uses a lane below. */
const OPTIONS = { ...LAYOUT_OPTIONS, rankGap: 76, maxSpan: Infinity };

function straightOf(input: ILayoutInput): ILayoutResult {
  return layered(input, OPTIONS);
}

/** A chain of `count` cards, with additional wires. */
function chain(count: number, more: readonly [number, number][] = []) {
  const source = Array.from({ length: count - 1 }, (_, i) => i);
  const target = source.map(v => v + 1);
  return simpleInput(
    new Array<number>(count).fill(100),
    new Array<number>(count).fill(40),
    [...source, ...more.map(([from]) => from)],
    [...target, ...more.map(([, to]) => to)]
  );
}

/** Row of each item, from the columns. */
function rowsOf(result: ILayoutResult): number[] {
  const breaks = asRowedResult(result)?.breaks ?? [];
  return Array.from(result.rank, r => breaks.filter(b => b <= r).length);
}

function points(result: ILayoutResult, e: number): [number, number][] {
  const route: [number, number][] = [];
  for (let i = result.pointOffsets[e]; i < result.pointOffsets[e + 1]; i++) {
    route.push([result.points[2 * i], result.points[2 * i + 1]]);
  }
  return route;
}

/** Number of crossings between horizontal and vertical pieces of two wires. */
function crossings(result: ILayoutResult): number {
  const level: [number, number, number, number][] = [];
  const upright: [number, number, number, number][] = [];
  for (let e = 0; e + 1 < result.pointOffsets.length; e++) {
    const route = points(result, e);
    for (let i = 1; i < route.length; i++) {
      const [[x0, y0], [x1, y1]] = [route[i - 1], route[i]];
      if (y0 === y1) {
        level.push([y0, Math.min(x0, x1), Math.max(x0, x1), e]);
      } else if (x0 === x1) {
        upright.push([x0, Math.min(y0, y1), Math.max(y0, y1), e]);
      }
    }
  }
  return upright.reduce(
    (sum, [x, top, bottom, e]) =>
      sum +
      level.filter(
        ([y, left, right, other]) =>
          e !== other && left < x && x < right && top < y && y < bottom
      ).length,
    0
  );
}

describe('a chain in rows', () => {
  const input = chain(12);
  const straight = straightOf(input);

  it('is not broken if it fits', () => {
    expect(layOutInRows(input, straight, { room: straight.width })).toBe(
      straight
    );
    expect(asRowedResult(straight)).toBeNull();
  });

  it('is at most as wide as the room, and runs from left to right in every row', () => {
    const result = layOutInRows(input, straight, { room: 800 });
    expect(result.width).toBeLessThanOrEqual(800);
    const rows = rowsOf(result);
    expect(Math.max(...rows)).toBe(2);
    for (let v = 1; v < 12; v++) {
      const sameRow = rows[v] === rows[v - 1];
      expect(result.x[v] > result.x[v - 1]).toBe(sameRow);
      expect(result.y[v] > result.y[v - 1]).toBe(!sameRow);
    }
    // All rows start at the same position.
    const begins = rows.flatMap((row, v) =>
      v === 0 || row > rows[v - 1] ? [result.x[v]] : []
    );
    expect(new Set(begins).size).toBe(1);
  });

  it('returns through the gutter between two rows', () => {
    const result = layOutInRows(input, straight, { room: 800 });
    const rows = rowsOf(result);
    const e = rows.findIndex((row, v) => row < rows[v + 1]);
    const route = points(result, e);
    const [, , down, backX] = route.map(([x]) => x);
    expect(backX).toBeLessThan(result.x[e + 1] - 50);
    expect(down).toBeGreaterThan(result.x[e] + 50);
    const gutter = route[2][1];
    expect(gutter).toBeGreaterThan(result.y[e] + 20);
    expect(gutter).toBeLessThan(result.y[e + 1] - 20);
  });

  it('leaves no single box in the last row if the other rows are shorter than the room', () => {
    for (let count = 5; count < 30; count++) {
      const input = chain(count);
      const result = layOutInRows(input, straightOf(input), { room: 900 });
      const rows = rowsOf(result);
      const last = rows.filter(row => row === rows[count - 1]).length;
      expect({ count, alone: last === 1 }).toEqual({ count, alone: false });
    }
  });

  it('breaks at the columns with fewest crossing edges, not at a full row', () => {
    // A block of three side branches where the row would be fullest.
    const branched = chain(10, [
      [3, 5],
      [3, 6],
      [4, 6]
    ]);
    const result = layOutInRows(branched, straightOf(branched), { room: 1150 });
    // Six cards fit; a break after five or six would cut two tensors.
    const begins = asRowedResult(result)?.breaks.map(column =>
      result.rank.indexOf(column)
    );
    expect(begins).toEqual([4]);
    expect(asRowedResult(result)?.returning).toBe(1);
  });

  it('keeps the previous start of a row if that costs little', () => {
    // Twelve cards in rows of six or seven: several breaks are almost equally good.
    const before = asRowedResult(layOutInRows(input, straight, { room: 1400 }));
    const begin = before?.rank.indexOf(before.breaks[0]) ?? 0;
    const second = asRowedResult(
      layOutInRows(input, straight, { room: 1400, kept: [begin - 1] })
    );
    expect(second?.rank.indexOf(second.breaks[0])).toBe(begin - 1);
  });
});

it('rows of a very long level are full and break at the fewest crossing edges', () => {
  const skips = Array.from(
    { length: 560 },
    (_, i) => [7 * i, 7 * i + 3] as [number, number]
  );
  const input = chain(4000, skips);
  const result = asRowedResult(
    layOutInRows(input, straightOf(input), { room: 6000 })
  );
  const ends = [...(result?.breaks ?? []), 4000];
  const rows = ends.map((end, row) => end - (row > 0 ? ends[row - 1] : 0));
  // 34 cards fit; the last row has the rest.
  expect(Math.min(...rows.slice(0, -1))).toBeGreaterThan(0.75 * 34);
  expect(result?.returning).toBe(result?.breaks.length);
});

describe('edges that skip rows', () => {
  it('run left of the rows and branch there', () => {
    const input = chain(15, [
      [1, 7],
      [1, 13]
    ]);
    const result = layOutInRows(input, straightOf(input), { room: 900 });
    const rows = rowsOf(result);
    const [e, f] = [14, 15];
    expect(rows[13]).toBeGreaterThan(rows[1] + 1);
    const left = (wire: number) =>
      Math.min(...points(result, wire).map(([x]) => x));
    const first = Math.min(...result.x) - 50;
    expect(left(e)).toBe(left(f));
    expect(left(f)).toBeLessThan(first);
    expect(asRowedResult(result)?.returning).toBe(rows[14] + 1);
  });

  it('turn down after their source if nothing is below', () => {
    const input = chain(16, [[1, 12]]);
    const result = layOutInRows(input, straightOf(input), { room: 1100 });
    const rows = rowsOf(result);
    const end = Math.max(
      ...rows.flatMap((row, v) => (row === rows[1] ? [result.x[v]] : []))
    );
    const reach = Math.max(
      ...points(result, 15)
        .filter(([, y]) => y < result.y[1] + 200)
        .map(([x]) => x)
    );
    // Next to the second card, or at the end of the row if the wire lies above the others.
    const below = points(result, 15)[1][1] >= result.y[1];
    expect(reach < end || !below).toBe(true);
  });
});

describe('ports', () => {
  it('are on the borders next to the row that uses them', () => {
    // 0 feeds the first card, 1 the tenth; the last card and the third lead to outputs.
    const inner = 12;
    const count = inner + 4;
    const width = new Array<number>(count).fill(100);
    const height = new Array<number>(count).fill(40);
    const wires: [number, number][] = [];
    for (let v = 2; v < inner + 1; v++) {
      wires.push([v, v + 1]);
    }
    wires.push([0, 2], [1, 11], [4, inner + 2], [inner + 1, inner + 3]);
    const levelInput = simpleInput(
      width.map((w, v) => (v < 2 || v >= inner + 2 ? 8 : w)),
      height.map((h, v) => (v < 2 || v >= inner + 2 ? 8 : h)),
      wires.map(([from]) => from),
      wires.map(([, to]) => to)
    );
    const input = {
      ...levelInput,
      pin: levelInput.pin.map((_, v) =>
        v < 2 ? PIN.first : v >= inner + 2 ? PIN.last : PIN.none
      )
    };
    const result = layOutInRows(input, straightOf(input), { room: 900 });
    const rows = rowsOf(result);
    const inRowOf = (port: number, item: number) =>
      Math.abs(result.y[port] - result.y[item]) < 60;
    expect(rows[11]).toBeGreaterThan(rows[2]);
    expect([result.x[0], result.x[1]]).toEqual([4, 4]);
    expect(result.x[inner + 2]).toBe(result.width - 4);
    expect(inRowOf(0, 2)).toBe(true);
    expect(inRowOf(1, 11)).toBe(true);
    expect(inRowOf(inner + 2, 4)).toBe(true);
    expect(inRowOf(inner + 3, inner + 1)).toBe(true);
    // They cause no additional returns: one per break.
    const rowed = asRowedResult(result);
    expect(rowed?.returning).toBe(rowed?.breaks.length);
  });
});

/** Pinned items like the ports of panels: dots with wires at their centres. */
function withDots(input: ILayoutInput): ILayoutInput {
  const isPort = (v: number) => input.pin[v] !== PIN.none;
  const dots = (sizes: Float64Array) =>
    sizes.map((s, v) => (isPort(v) ? 8 : s));
  const middle = (offsets: Float64Array, items: Int32Array) =>
    offsets.map((offset, e) => (isPort(items[e]) ? 0 : offset));
  return {
    ...input,
    width: dots(input.width),
    height: dots(input.height),
    sourceOffset: middle(input.sourceOffset, input.source),
    targetOffset: middle(input.targetOffset, input.target)
  };
}

describe('random graphs in rows', () => {
  function check(seed: number, input: ILayoutInput): boolean {
    const straight = straightOf(input);
    const widest = input.width.reduce((a, b) => Math.max(a, b), 0);
    const rowLength = Math.max(widest + 160, straight.width * 0.4);
    const result = layOutInRows(input, straight, { room: rowLength });
    const { overlaps, detached, through, outside } = findFaults(input, result);
    expect({ seed, overlaps, detached, outside }).toEqual({
      seed,
      overlaps: 0,
      detached: 0,
      outside: 0
    });
    expect(through).toBe(findFaults(input, straight).through);
    // The order within columns is unchanged.
    for (let v = 1; v < input.itemCount; v++) {
      const sameColumn = straight.rank[v] === straight.rank[v - 1];
      if (sameColumn && input.pin[v] === PIN.none && input.pin[v - 1] === 0) {
        expect(Math.sign(result.y[v] - result.y[v - 1])).toBe(
          Math.sign(straight.y[v] - straight.y[v - 1])
        );
      }
    }
    return asRowedResult(result) !== null;
  }

  it('are valid with skip edges', () => {
    let wrapped = 0;
    for (let seed = 0; seed < 200; seed++) {
      wrapped += check(seed, randomGraph(new Random(seed), false)) ? 1 : 0;
    }
    expect(wrapped).toBeGreaterThan(150);
  });

  it('are valid with ports, trunks and pinned ends', () => {
    let wrapped = 0;
    for (let seed = 0; seed < 200; seed++) {
      const random = new Random(seed);
      const input = withDots(withPorts(random, randomGraph(random, false)));
      wrapped += check(seed, input) ? 1 : 0;
    }
    expect(wrapped).toBeGreaterThan(100);
  });

  it('are valid with cycles', () => {
    let wrapped = 0;
    for (let seed = 0; seed < 200; seed++) {
      wrapped += check(seed, randomGraph(new Random(seed), true)) ? 1 : 0;
    }
    expect(wrapped).toBeGreaterThan(150);
  });

  it('have no crossings between the rows of a chain', () => {
    for (let count = 6; count < 40; count++) {
      const input = chain(count);
      const result = layOutInRows(input, straightOf(input), { room: 700 });
      expect(crossings(result)).toBe(0);
    }
  });
});
