/**
 * Wires from one row to later ones. The right side of a row, the gutter below it and the left side of the
 * next are nested: the topmost wire to leave runs outermost on the right, lowest in the gutter and
 * innermost on the left, and enters on top. So wires keep their order and do not cross between two rows.
 * A wire that skips rows runs down on the left, next to them.
 */

import { isIn } from './rowColumns';
import { DropColumns } from './dropColumns';
import type { RowedLevel } from './rowedLevel';

/** A tensor that continues in later rows. */
export interface IReturn {
  readonly trunk: number;
  /** The row that it leaves; for a tensor from outside, that of its port. */
  readonly row: number;
  readonly entry: boolean;
  /** The last row that reads it. */
  readonly last: number;
  /** The column after which it goes down to the gutter; -1 for a tensor from outside. */
  readonly drop: number;
  /** Heights in the layout where it leaves, and where it enters the last row. */
  readonly exitY: number;
  readonly lastY: number;
  /** Track numbers, counted from the row: on the right, in the gutter, on the left. */
  right: number;
  gutter: number;
  left: number;
}

export interface IReturns {
  /** By trunk; null if it stays in its row. */
  readonly byTrunk: readonly (IReturn | null)[];
  /** By row: number of wires in the gutter below, and how many of them turn at the end of the row. */
  readonly inGutter: readonly number[];
  readonly turning: readonly number[];
  /** Number of tracks on the left. */
  readonly tracks: number;
}

export function returnsOf(level: RowedLevel): IReturns {
  const byTrunk = collect(level);
  const returns = byTrunk.filter(wire => wire !== null);
  const tracks = orderLeft(returns);
  const inGutter: number[] = [];
  const turning: number[] = [];
  const leaving: IReturn[][] = [];
  for (const wire of returns) {
    if (!wire.entry) {
      (leaving[wire.row] ??= []).push(wire);
    }
  }
  for (let row = 0; row < level.rowCount; row++) {
    const wires = leaving[row] ?? [];
    inGutter[row] = wires.length;
    turning[row] = orderRight(wires, level.end[row] - 1);
  }
  return { byTrunk, inGutter, turning, tracks };
}

function collect(level: RowedLevel): (IReturn | null)[] {
  const { input, columns } = level;
  const drops = new DropColumns(level);
  return level.trunks.map(({ source, edges }, trunk) => {
    const rows = edges.map(e => level.row(input.target[e]));
    const row = level.row(source);
    const last = rows.reduce((max, r) => Math.max(max, r), row);
    if (last === row) {
      return null;
    }
    const entry = isIn(input, source);
    const lastEdge = edges[rows.indexOf(last)];
    const firstEdge = edges[rows.findIndex(r => r > row)];
    const drop = entry ? -1 : drops.of(source, firstEdge, row);
    const exitY = entry
      ? level.entryY(edges[rows.indexOf(row)] ?? firstEdge, row)
      : level.heightAt(firstEdge, columns.right[drop]);
    const lastY = level.entryY(lastEdge, last);
    const tracks = { right: 0, gutter: 0, left: 0 };
    return { trunk, row, entry, last, drop, exitY, lastY, ...tracks };
  });
}

/**
 * Assigns tracks on the left, innermost first: wires that end soon, and upper ones. Returns the number of
 * tracks.
 */
function orderLeft(returns: readonly IReturn[]): number {
  const inner = [...returns].sort(
    (a, b) => a.last - a.row - (b.last - b.row) || a.lastY - b.lastY
  );
  const intervals: { from: number; to: number }[][] = [];
  for (const wire of inner) {
    // Rows and gutters alternate: 2 · row, 2 · row + 1.
    const from = wire.entry ? 2 * wire.row : 2 * wire.row + 1;
    const to = 2 * wire.last;
    let index = 0;
    while (intervals[index]?.some(t => t.from <= to && t.to >= from)) {
      index++;
    }
    (intervals[index] ??= []).push({ from, to });
    wire.left = index;
  }
  return intervals.length;
}

/**
 * Orders the gutter and the right side of one row. Returns the number of wires that turn at its end; the
 * others need no track there.
 */
function orderRight(wires: readonly IReturn[], lastColumn: number): number {
  const outer = [...wires].sort((a, b) => b.left - a.left);
  outer.forEach((wire, i) => (wire.gutter = i));
  const turning = wires.filter(wire => wire.drop === lastColumn);
  turning.sort((a, b) => b.exitY - a.exitY);
  turning.forEach((wire, i) => (wire.right = i));
  const dropCounts = new Map<number, number>();
  for (const wire of outer) {
    if (wire.drop !== lastColumn) {
      wire.right = dropCounts.get(wire.drop) ?? 0;
      dropCounts.set(wire.drop, wire.right + 1);
    }
  }
  return turning.length;
}
