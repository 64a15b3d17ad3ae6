/** Checks a finished layout for visible faults. */

import type {
  ILayoutInput,
  ILayoutResult
} from '../layout/layered/layoutTypes';

export interface IFaults {
  /** Pairs of items that overlap. */
  overlaps: number;
  /** Edges whose points do not run from left to right. */
  backward: number;
  /** Pairs of an edge and an unrelated item that it passes through. */
  through: number;
  /** Edges that do not start or end at their items. */
  detached: number;
  /** Items or points outside the bounds. */
  outside: number;
}

const SLACK = 1e-6;

/** True if a segment passes through the inside of a box (Liang and Barsky). */
export function segmentHitsBox(
  [ax, ay, bx, by]: [number, number, number, number],
  [left, top, right, bottom]: [number, number, number, number]
): boolean {
  let enter = 0;
  let leave = 1;
  const dx = bx - ax;
  const dy = by - ay;
  for (const [p, q] of [
    [-dx, ax - left],
    [dx, right - ax],
    [-dy, ay - top],
    [dy, bottom - ay]
  ]) {
    if (Math.abs(p) < SLACK) {
      if (q <= SLACK) {
        return false;
      }
    } else if (p < 0) {
      enter = Math.max(enter, q / p);
    } else {
      leave = Math.min(leave, q / p);
    }
  }
  return leave - enter > SLACK;
}

function boxOf(
  input: ILayoutInput,
  result: ILayoutResult,
  v: number,
  inset: number
): [number, number, number, number] {
  const w = input.width[v] / 2 - inset;
  const h = input.height[v] / 2 - inset;
  return [result.x[v] - w, result.y[v] - h, result.x[v] + w, result.y[v] + h];
}

function countOverlaps(input: ILayoutInput, result: ILayoutResult): number {
  const order = Array.from({ length: input.itemCount }, (_, v) => v);
  const boxes = order.map(v => boxOf(input, result, v, SLACK));
  order.sort((a, b) => boxes[a][0] - boxes[b][0]);
  let overlaps = 0;
  for (let i = 0; i < order.length; i++) {
    const a = boxes[order[i]];
    for (let j = i + 1; j < order.length; j++) {
      const b = boxes[order[j]];
      if (b[0] >= a[2]) {
        break;
      }
      if (b[1] < a[3] && a[1] < b[3] && a[1] < a[3] && b[1] < b[3]) {
        overlaps++;
      }
    }
  }
  return overlaps;
}

function checkEdge(
  input: ILayoutInput,
  result: ILayoutResult,
  e: number,
  faults: IFaults
): void {
  const begin = result.pointOffsets[e];
  const end = result.pointOffsets[e + 1];
  const [s, t] = [input.source[e], input.target[e]];
  if (s === t) {
    faults.detached += end > begin ? 1 : 0;
    return;
  }
  const x = (i: number) => result.points[2 * i];
  const y = (i: number) => result.points[2 * i + 1];
  const differs = (a: number, b: number) => Math.abs(a - b) > 1e-3;
  if (
    end - begin < 2 ||
    differs(x(begin), result.x[s] + input.width[s] / 2) ||
    differs(y(begin), result.y[s] + input.sourceOffset[e]) ||
    differs(x(end - 1), result.x[t] - input.width[t] / 2) ||
    differs(y(end - 1), result.y[t] + input.targetOffset[e])
  ) {
    faults.detached++;
    return;
  }
  let rises = true;
  for (let i = begin; i < end; i++) {
    rises = rises && (i === begin || x(i) >= x(i - 1) - SLACK);
    const inside =
      x(i) >= -1e-3 &&
      y(i) >= -1e-3 &&
      x(i) <= result.width + 1e-3 &&
      y(i) <= result.height + 1e-3;
    faults.outside += inside ? 0 : 1;
  }
  faults.backward += rises ? 0 : 1;
  for (let v = 0; v < input.itemCount; v++) {
    if (v === s || v === t) {
      continue;
    }
    const box = boxOf(input, result, v, 0.5);
    for (let i = begin + 1; i < end; i++) {
      if (segmentHitsBox([x(i - 1), y(i - 1), x(i), y(i)], box)) {
        faults.through++;
        break;
      }
    }
  }
}

/** Counts the faults of a layout; quadratic, for test graphs only. */
export function findFaults(
  input: ILayoutInput,
  result: ILayoutResult
): IFaults {
  const faults: IFaults = {
    overlaps: countOverlaps(input, result),
    backward: 0,
    through: 0,
    detached: 0,
    outside: 0
  };
  for (let e = 0; e < input.source.length; e++) {
    checkEdge(input, result, e, faults);
  }
  return faults;
}

/** Sum of the lengths of all wires. */
export function wireLength(result: ILayoutResult): number {
  let length = 0;
  for (let e = 0; e + 1 < result.pointOffsets.length; e++) {
    const end = result.pointOffsets[e + 1];
    for (let i = result.pointOffsets[e] + 1; i < end; i++) {
      length += Math.hypot(
        result.points[2 * i] - result.points[2 * i - 2],
        result.points[2 * i + 1] - result.points[2 * i - 1]
      );
    }
  }
  return length;
}
