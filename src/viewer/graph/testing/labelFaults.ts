/** Checks wire labels by brute force: overlaps, and labels that were omitted although they fit. */
import { BoxKind, type IScene } from '../../../core/types';
import type { IRect } from '../geometry/camera';
import { someChord } from '../geometry/wirePath';
import type { IWireLabel } from '../labels/labelSpace';
import { TITLE_BAR } from '../style/metrics';

export interface ILabelFaults {
  readonly onLabels: string[];
  readonly onBoxes: string[];
  readonly onWires: string[];
  /** Wires without a label for which the shortest text has space. */
  readonly hidden: string[];
  /** Number of wires with a label. */
  readonly visible: number;
  /** Number of wires without one. */
  readonly without: number;
}

/** A collapsed group has a second outline behind it. */
const STACK = 4;

type Line = [number, number, number, number];

const overlap = (a: IRect, b: IRect): boolean =>
  a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;

/** True if a line one pixel wide enters a rectangle; checked at every pixel. */
function enters([ax, ay, bx, by]: Line, r: IRect): boolean {
  if (
    Math.max(ax, bx) <= r.x ||
    Math.min(ax, bx) >= r.x + r.w ||
    Math.max(ay, by) <= r.y ||
    Math.min(ay, by) >= r.y + r.h
  ) {
    return false;
  }
  const steps = Math.max(2, Math.ceil(Math.hypot(bx - ax, by - ay)));
  for (let i = 0; i <= steps; i++) {
    const x = ax + ((bx - ax) * i) / steps;
    const y = ay + ((by - ay) * i) / steps;
    if (x > r.x && x < r.x + r.w && y > r.y && y < r.y + r.h) {
      return true;
    }
  }
  return false;
}

function linesOf(scene: IScene): Line[][] {
  return Array.from({ length: scene.edgeCount }, (_, e) => {
    const lines: Line[] = [];
    for (let i = scene.edgeOffsets[e]; i + 1 < scene.edgeOffsets[e + 1]; i++) {
      someChord(scene, i, (...line) => {
        lines.push(line);
        return false;
      });
    }
    return lines;
  });
}

/**
 * Boxes that a label must not touch: cards, pills and ports; for a panel around it, its title and border.
 */
function boxesUnder(scene: IScene, r: IRect, x: number, y: number): number[] {
  const hit: number[] = [];
  for (let b = 0; b < scene.boxCount; b++) {
    const [left, top] = [scene.boxX[b], scene.boxY[b]];
    const more = scene.boxKind[b] === BoxKind.Group ? STACK : 0;
    const box = {
      x: left,
      y: top,
      w: scene.boxW[b] + more,
      h: scene.boxH[b] + more
    };
    const holds =
      scene.boxKind[b] === BoxKind.OpenGroup &&
      x >= left - 1 &&
      x <= left + box.w + 1 &&
      y >= top - 1 &&
      y <= top + box.h + 1;
    const within =
      r.x >= left &&
      r.x + r.w <= left + box.w &&
      r.y >= top + TITLE_BAR &&
      r.y + r.h <= top + box.h;
    const beyond = !overlap(box, r);
    if (!beyond && !(holds && within)) {
      hit.push(b);
    }
  }
  return hit;
}

/**
 * Faults of labels by edge. `width` is that of an edge's shortest text, 0 without text; positions are
 * tried at every `step` of each wire, above and below it and at its sides.
 */
export function labelFaults(
  scene: IScene,
  labels: ReadonlyMap<number, IWireLabel>,
  width: (edge: number) => number,
  step = 3
): ILabelFaults {
  const faults: ILabelFaults = {
    onLabels: [],
    onBoxes: [],
    onWires: [],
    hidden: [],
    visible: labels.size,
    without: 0
  };
  const lines = linesOf(scene);
  const entries = [...labels];
  entries.forEach(([edge, { rect, text }], i) => {
    for (const [other, { rect: r }] of entries.slice(i + 1)) {
      if (overlap(rect, r)) {
        faults.onLabels.push(`${text} of ${edge} on that of ${other}`);
      }
    }
    const nearestPoint = nearest(lines[edge], rect);
    for (const box of boxesUnder(scene, rect, ...nearestPoint)) {
      faults.onBoxes.push(`${text} of ${edge} on box ${box}`);
    }
    lines.forEach((of, e) => {
      if (of.some(line => enters(line, rect))) {
        faults.onWires.push(`${text} of ${edge} on wire ${e}`);
      }
    });
  });
  const wires = new Map<string, number[]>();
  for (let e = 0; e < scene.edgeCount; e++) {
    const key = `${scene.edgeSource[e]}/${scene.edgeTensor[e]}`;
    wires.set(key, [...(wires.get(key) ?? []), e]);
  }
  const count = { without: 0 };
  for (const edges of wires.values()) {
    const w = width(edges[0]);
    if (w === 0 || edges.some(e => labels.has(e))) {
      continue;
    }
    count.without++;
    const free = (r: IRect, x: number, y: number): boolean =>
      r.x >= 0 &&
      r.y >= 0 &&
      r.x + r.w <= scene.width &&
      r.y + r.h <= scene.height &&
      entries.every(([, label]) => !overlap(label.rect, r)) &&
      boxesUnder(scene, expanded(r, 2), x, y).length === 0 &&
      !lines.some(of => of.some(line => enters(line, expanded(r, 1.5))));
    const middle = edges
      .map(e => placeBeside(lines[e], w, step, free))
      .find(route => route);
    if (middle) {
      faults.hidden.push(`edge ${edges[0]}: ${w} wide at ${middle.join(', ')}`);
    }
  }
  return { ...faults, ...count };
}

const expanded = (r: IRect, by: number): IRect => ({
  x: r.x - by,
  y: r.y - by,
  w: r.w + 2 * by,
  h: r.h + 2 * by
});

function nearest(lines: readonly Line[], r: IRect): [number, number] {
  const [cx, cy] = [r.x + r.w / 2, r.y + r.h / 2];
  let best: [number, number] = [cx, cy];
  let least = Infinity;
  for (const [ax, ay, bx, by] of lines) {
    for (let t = 0; t <= 1; t += 0.125) {
      const [x, y] = [ax + (bx - ax) * t, ay + (by - ay) * t];
      const away = Math.hypot(x - cx, y - cy);
      if (away < least) {
        least = away;
        best = [x, y];
      }
    }
  }
  return best;
}

/** Height of a label. */
const LABEL_HEIGHT = 9.6;
/** Distance from a wire at which a label is certainly beside it. */
const AWAY = 4;

function placeBeside(
  lines: readonly Line[],
  w: number,
  step: number,
  free: (r: IRect, x: number, y: number) => boolean
): number[] | null {
  for (const [ax, ay, bx, by] of lines) {
    const steps = Math.ceil(Math.hypot(bx - ax, by - ay) / step);
    for (let i = 0; i <= steps; i++) {
      const x = ax + ((bx - ax) * i) / Math.max(1, steps);
      const y = ay + ((by - ay) * i) / Math.max(1, steps);
      for (const [left, top] of [
        [x - w / 2, y - AWAY - LABEL_HEIGHT],
        [x - w / 2, y + AWAY],
        [x + AWAY, y - LABEL_HEIGHT / 2],
        [x - AWAY - w, y - LABEL_HEIGHT / 2]
      ]) {
        if (free({ x: left, y: top, w, h: LABEL_HEIGHT }, x, y)) {
          return [left, top].map(Math.round);
        }
      }
    }
  }
  return null;
}
