/** Chooses the columns at which rows begin. */

import type { IRowColumns } from './rowColumns';
import { GUTTER, MIN_GUTTER, TRACK, TURN } from './rowSpacing';

/** Cost of a break, in px of height, for each wire after the first that it cuts. */
const CUT_WIRE_COST = 30;
/** Cost of a half-empty row. */
const RAGGED_ROW_COST = 90;
/** In levels with more columns, rows that are less full are not tried. */
const MAX_UNEVEN_COLUMNS = 1500;
const FULL_ROW_SHARE = 0.8;
/**
 * Cost of an almost empty row, such as a last row with a single result, and the share up to which it
 * applies.
 */
const WIDOW_COST = 70;
const NEARLY_EMPTY = 0.3;
/** Bonus for a break at a previous position. */
const KEPT_BREAK_BONUS = 60;

/** Number of candidate breaks per row of a long level. */
const CANDIDATES_PER_ROW = 16;

/**
 * Columns before which a row may begin: in a long level, those that cut the fewest wires among their
 * neighbours; in a short one, all.
 */
function breakCandidates(
  { from, to, cuts, left, right }: IRowColumns,
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
      least = cuts[r] < cuts[least] ? r : least;
    }
    choice[least] = 1;
  }
  choice[to] = 1;
  return { choice, isLong };
}

/**
 * First columns of all rows but the first, found as a shortest path over the columns: the breaks with the
 * lowest total cost, like lines of a paragraph in Knuth and Plass, "Breaking paragraphs into lines",
 * 1981. `keeps` marks columns that began a row before.
 */
export function chooseBreaks(
  columns: IRowColumns,
  room: number,
  keeps: (column: number) => boolean
): number[] {
  const { from, to, left, right, top, bottom, cuts } = columns;
  const { choice, isLong } = breakCandidates(columns, room);
  const best = new Float64Array(to + 1).fill(Infinity);
  const previous = new Int32Array(to + 1).fill(-1);
  best[from] = 0;
  for (let i = from; i < to; i++) {
    if (best[i] === Infinity) {
      continue;
    }
    let [high, low] = [Infinity, -Infinity];
    const costBefore =
      i === from
        ? best[i]
        : best[i] +
          Math.max(MIN_GUTTER, 2 * GUTTER + cuts[i] * TRACK) +
          CUT_WIRE_COST * Math.max(0, cuts[i] - 1) -
          (keeps(i) ? KEPT_BREAK_BONUS : 0);
    // The longest row, used if no candidate is within reach.
    let [last, lastCost, isWanted] = [-1, Infinity, false];
    for (let j = i + 1; j <= to; j++) {
      high = Math.min(high, top[j - 1]);
      low = Math.max(low, bottom[j - 1]);
      const ends = j < to;
      const turnWidth = ends && cuts[j] > 0 ? TURN + cuts[j] * TRACK : 0;
      const width = right[j - 1] - left[i] + turnWidth;
      // A single column is allowed whatever its width.
      if (width > room && j > i + 1) {
        break;
      }
      if (isLong && ends && right[j] - left[i] < room * FULL_ROW_SHARE) {
        continue;
      }
      const free = Math.max(0, room - width) / room;
      const ragged = RAGGED_ROW_COST * 4 * free * free;
      // The last row may have any length.
      let cost = costBefore + (low - high) + (ends ? ragged : ragged / 6);
      if (width < NEARLY_EMPTY * room) {
        cost += WIDOW_COST;
      }
      if (choice[j] === 0) {
        [last, lastCost] = [j, cost];
        continue;
      }
      isWanted = true;
      if (cost < best[j]) {
        best[j] = cost;
        previous[j] = i;
      }
    }
    if (!isWanted && lastCost < best[last]) {
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
