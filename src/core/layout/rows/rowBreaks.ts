/** Where the rows of a level begin. */

import type { IRowColumns } from './rowColumns';
import { GUTTER, MIN_GUTTER, TRACK, TURN } from './rowSpacing';

/** What a break costs, in px of height, for each wire but the first that it tears. */
const TORN_WIRE_COST = 30;
/** A row of which half is empty. */
const RAGGED_ROW_COST = 90;
/** In a level of so many columns rows that are less full are not tried. */
const MAX_UNEVEN_COLUMNS = 1500;
const FULL_ROW_SHARE = 0.8;
/** A row that is nearly empty, as a last one with a lone result, and up to which share it is that. */
const WIDOW_COST = 70;
const NEARLY_EMPTY = 0.3;
/** A break where one was before; taken off. */
const KEPT_BREAK_BONUS = 60;

/** Breaks that a long level chooses between, a row. */
const CANDIDATES_PER_ROW = 16;

/**
 * Columns before which a row of a long level may begin: of some neighbours the one where least is torn.
 * All, where the level is short.
 */
function breakCandidates(
  { from, to, torn, left, right }: IRowColumns,
  room: number
) {
  const choice = new Uint8Array(to + 1);
  const perRow = (room * (to - from)) / (right[to - 1] - left[from]);
  const isLong = to - from > MAX_UNEVEN_COLUMNS;
  const step = isLong
    ? Math.max(1, Math.floor(perRow / CANDIDATES_PER_ROW))
    : 1;
  for (let begin = from; begin < to; begin += step) {
    let least = begin;
    for (let r = begin + 1; r < Math.min(to, begin + step); r++) {
      least = torn[r] < torn[least] ? r : least;
    }
    choice[least] = 1;
  }
  choice[to] = 1;
  return { choice, isLong };
}

/**
 * First columns of the rows after the first, by shortest path over the columns: the rows of least cost
 * altogether, as lines of a paragraph are found in Knuth and Plass, "Breaking paragraphs into lines",
 * 1981. `keeps` tells columns that began a row before.
 */
export function chooseBreaks(
  columns: IRowColumns,
  room: number,
  keeps: (column: number) => boolean
): number[] {
  const { from, to, left, right, top, bottom, torn } = columns;
  const { choice, isLong } = breakCandidates(columns, room);
  const best = new Float64Array(to + 1).fill(Infinity);
  const previous = new Int32Array(to + 1).fill(-1);
  best[from] = 0;
  for (let i = from; i < to; i++) {
    if (best[i] === Infinity) {
      continue;
    }
    let [high, low] = [Infinity, -Infinity];
    const begun =
      i === from
        ? best[i]
        : best[i] +
          Math.max(MIN_GUTTER, 2 * GUTTER + torn[i] * TRACK) +
          TORN_WIRE_COST * Math.max(0, torn[i] - 1) -
          (keeps(i) ? KEPT_BREAK_BONUS : 0);
    // The longest row, for where no choice lies in reach.
    let [last, lastCost, chosen] = [-1, Infinity, false];
    for (let j = i + 1; j <= to; j++) {
      high = Math.min(high, top[j - 1]);
      low = Math.max(low, bottom[j - 1]);
      const ends = j < to;
      const turn = ends && torn[j] > 0 ? TURN + torn[j] * TRACK : 0;
      const width = right[j - 1] - left[i] + turn;
      // One column stands alone whatever its width.
      if (width > room && j > i + 1) {
        break;
      }
      if (isLong && ends && right[j] - left[i] < room * FULL_ROW_SHARE) {
        continue;
      }
      const free = Math.max(0, room - width) / room;
      const ragged = RAGGED_ROW_COST * 4 * free * free;
      // The last row may be as short as it likes.
      let cost = begun + (low - high) + (ends ? ragged : ragged / 6);
      if (width < NEARLY_EMPTY * room) {
        cost += WIDOW_COST;
      }
      if (choice[j] === 0) {
        [last, lastCost] = [j, cost];
        continue;
      }
      chosen = true;
      if (cost < best[j]) {
        best[j] = cost;
        previous[j] = i;
      }
    }
    if (!chosen && lastCost < best[last]) {
      best[last] = lastCost;
      previous[last] = i;
    }
  }
  const breaks: number[] = [];
  for (let j = previous[to]; j > from; j = previous[j]) {
    breaks.push(j);
  }
  return breaks.reverse();
}
