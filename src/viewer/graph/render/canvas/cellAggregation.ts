/** Aggregates boxes and wires into cells, for very low zoom and for the minimap. */
import { BoxKind, type IScene } from '../../../../core/types';
import type { BoxColors } from '../../style/boxColors';

/** Rectangles in world units, sorted by colour: `x, y, w, h` per row. */
export interface IAggregatedBoxes {
  /** Runs of one colour: index into `paint.paints`, first row, end row. */
  readonly runs: readonly { paint: number; from: number; to: number }[];
  readonly rects: Float64Array;
}

/**
 * Keeps one colour per cell, that of its largest box, and joins equal neighbours in a row. Linear in the
 * number of boxes; at most one rectangle per touched cell.
 */
export function aggregateBoxes(
  scene: IScene,
  paint: BoxColors,
  cellW: number,
  cellH: number
): IAggregatedBoxes {
  const columns = Math.max(1, Math.ceil(scene.width / cellW) + 1);
  const rows = Math.max(1, Math.ceil(scene.height / cellH) + 1);
  const winner = new Int16Array(columns * rows).fill(-1);
  const area = new Float32Array(columns * rows);
  for (let b = 0; b < scene.boxCount; b++) {
    const kind = scene.boxKind[b];
    if (kind === BoxKind.OpenGroup || kind === BoxKind.Port) {
      continue;
    }
    const size = scene.boxW[b] * scene.boxH[b];
    const c0 = clamp(Math.floor(scene.boxX[b] / cellW), columns);
    const c1 = clamp(
      Math.floor((scene.boxX[b] + scene.boxW[b] * 0.999) / cellW),
      columns
    );
    const r0 = clamp(Math.floor(scene.boxY[b] / cellH), rows);
    const r1 = clamp(
      Math.floor((scene.boxY[b] + scene.boxH[b] * 0.999) / cellH),
      rows
    );
    const color = paint.fillIndex(b);
    for (let y = r0; y <= r1; y++) {
      for (let x = c0; x <= c1; x++) {
        const cell = y * columns + x;
        if (size >= area[cell]) {
          area[cell] = size;
          winner[cell] = color;
        }
      }
    }
  }
  return gather(winner, columns, rows, cellW, cellH);
}

function gather(
  winner: Int16Array,
  columns: number,
  rows: number,
  cellW: number,
  cellH: number
): IAggregatedBoxes {
  const byPaint = new Map<number, number[]>();
  for (let y = 0; y < rows; y++) {
    for (let x = 0; x < columns;) {
      const color = winner[y * columns + x];
      let end = x + 1;
      while (end < columns && winner[y * columns + end] === color) {
        end++;
      }
      if (color >= 0) {
        const list = byPaint.get(color) ?? [];
        list.push(x * cellW, y * cellH, (end - x) * cellW, cellH);
        byPaint.set(color, list);
      }
      x = end;
    }
  }
  const runs: { paint: number; from: number; to: number }[] = [];
  const groups: number[][] = [];
  let position = 0;
  for (const [paint, list] of byPaint) {
    runs.push({ paint, from: position, to: position + list.length / 4 });
    position += list.length / 4;
    groups.push(list);
  }
  const rects = new Float64Array(4 * position);
  let i = 0;
  for (const list of groups) {
    rects.set(list, i);
    i += list.length;
  }
  return { runs, rects };
}

/** Wires at least one cell long, one per pair of cells: `x0, y0, x1, y1` per row. */
export function aggregateEdges(
  scene: IScene,
  cellW: number,
  cellH: number
): Float64Array {
  const columns = Math.ceil(scene.width / cellW) + 2;
  const cells = columns * (Math.ceil(scene.height / cellH) + 2);
  const keys = new Set<number>();
  const unique: number[] = [];
  const p = scene.edgePoints;
  for (let e = 0; e < scene.edgeCount; e++) {
    for (let i = scene.edgeOffsets[e]; i + 1 < scene.edgeOffsets[e + 1]; i++) {
      const x0 = Math.round(p[2 * i] / cellW);
      const y0 = Math.round(p[2 * i + 1] / cellH);
      const x1 = Math.round(p[2 * i + 2] / cellW);
      const y1 = Math.round(p[2 * i + 3] / cellH);
      if (x0 === x1 && y0 === y1) {
        continue;
      }
      const key = (y0 * columns + x0) * cells + y1 * columns + x1;
      if (!keys.has(key)) {
        keys.add(key);
        unique.push(x0 * cellW, y0 * cellH, x1 * cellW, y1 * cellH);
      }
    }
  }
  return Float64Array.from(unique);
}

function clamp(value: number, count: number): number {
  return Math.min(count - 1, Math.max(0, value));
}
