/** Checks a scene for visible faults and describes them. */

import { PANEL } from '../layout/compound/layoutMetrics';
import { BoxKind } from '../types';
import type { IScene } from '../types';
import { segmentHitsBox } from './geometry';

const SLACK = 0.01;

/** Transposes a scene that flows down into one that flows right. */
function flowingRight(scene: IScene): IScene {
  if (scene.direction === 'right') {
    return scene;
  }
  const points = scene.edgePoints.slice();
  for (let i = 0; i < points.length; i += 2) {
    [points[i], points[i + 1]] = [points[i + 1], points[i]];
  }
  return {
    ...scene,
    direction: 'right',
    width: scene.height,
    height: scene.width,
    boxX: scene.boxY,
    boxY: scene.boxX,
    boxW: scene.boxH,
    boxH: scene.boxW,
    edgePoints: points
  };
}

type Box = [left: number, top: number, right: number, bottom: number];

function boxAt(scene: IScene, b: number): Box {
  const [x, y] = [scene.boxX[b], scene.boxY[b]];
  return [x, y, x + scene.boxW[b], y + scene.boxH[b]];
}

function inset([left, top, right, bottom]: Box, by: number): Box {
  return [left + by, top + by, right - by, bottom - by];
}

function overlap(a: Box, b: Box): boolean {
  return a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
}

/** Every box lies in its panel; ports lie on its sides. */
function nesting(scene: IScene, faults: string[]): void {
  for (let b = 0; b < scene.boxCount; b++) {
    const parent = scene.boxParent[b];
    if (parent >= b) {
      faults.push(`box ${b} comes before its panel ${parent}`);
    }
    const [left, top, right, bottom] = boxAt(scene, b);
    const outer: Box =
      parent < 0 ? [0, 0, scene.width, scene.height] : boxAt(scene, parent);
    const isPort = scene.boxKind[b] === BoxKind.Port;
    const centre = (left + right) / 2;
    const onSide =
      Math.abs(centre - outer[0]) < SLACK ||
      Math.abs(centre - outer[2]) < SLACK;
    const insideX = left >= outer[0] - SLACK && right <= outer[2] + SLACK;
    const insideY = top >= outer[1] - SLACK && bottom <= outer[3] + SLACK;
    if (!insideY || !(isPort ? onSide : insideX)) {
      faults.push(`box ${b} (kind ${scene.boxKind[b]}) leaves its panel`);
    }
  }
}

/** Only wires and ports lie under the title of a panel. */
function titles(scene: IScene, faults: string[]): void {
  for (let b = 0; b < scene.boxCount; b++) {
    const parent = scene.boxParent[b];
    if (parent >= 0 && scene.boxKind[b] !== BoxKind.Port) {
      const below = scene.boxY[parent] + PANEL.title - SLACK;
      if (scene.boxY[b] < below) {
        faults.push(`box ${b} lies under the title of ${parent}`);
      }
    }
  }
}

function siblings(scene: IScene): number[][] {
  const rows = new Map<number, number[]>();
  for (let b = 0; b < scene.boxCount; b++) {
    const row = rows.get(scene.boxParent[b]);
    if (row) {
      row.push(b);
    } else {
      rows.set(scene.boxParent[b], [b]);
    }
  }
  return [...rows.values()];
}

function overlaps(scene: IScene, faults: string[]): void {
  for (const row of siblings(scene)) {
    const order = row.slice().sort((a, b) => scene.boxX[a] - scene.boxX[b]);
    order.forEach((a, i) => {
      const box = inset(boxAt(scene, a), SLACK);
      for (let j = i + 1; j < order.length; j++) {
        const other = inset(boxAt(scene, order[j]), SLACK);
        if (other[0] >= box[2]) {
          break;
        }
        if (overlap(box, other)) {
          faults.push(`boxes ${a} and ${order[j]} overlap`);
        }
      }
    });
  }
}

/** Edges begin and end at their boxes and pass through no card of their level. */
function edges(scene: IScene, faults: string[]): void {
  const rows = new Map(
    siblings(scene).map((row): [number, number[]] => [
      scene.boxParent[row[0]],
      row
    ])
  );
  for (let e = 0; e < scene.edgeCount; e++) {
    const begin = scene.edgeOffsets[e];
    const end = scene.edgeOffsets[e + 1];
    const [s, t] = [scene.edgeSource[e], scene.edgeTarget[e]];
    const x = (i: number) => scene.edgePoints[2 * i];
    const y = (i: number) => scene.edgePoints[2 * i + 1];
    // A wire may end at a port's centre (the panel's side) or at its edge.
    const isNear = (b: number, i: number) =>
      x(i) >= scene.boxX[b] - SLACK - PORT_REACH &&
      x(i) <= scene.boxX[b] + scene.boxW[b] + SLACK + PORT_REACH &&
      y(i) >= scene.boxY[b] - SLACK &&
      y(i) <= scene.boxY[b] + scene.boxH[b] + SLACK;
    if (!isNear(s, begin) || !isNear(t, end - 1)) {
      faults.push(`edge ${e} does not touch its boxes ${s}, ${t}`);
    }
    const level = levelOf(scene, s, t);
    for (const b of rows.get(level) ?? []) {
      const isOwn =
        b === s || b === t || holds(scene, b, s) || holds(scene, b, t);
      const box = inset(boxAt(scene, b), 0.5);
      for (let i = begin + 1; !isOwn && i < end; i++) {
        if (segmentHitsBox([x(i - 1), y(i - 1), x(i), y(i)], box)) {
          faults.push(`edge ${e} runs through box ${b}`);
          break;
        }
      }
    }
  }
}

const PORT_REACH = 4;

function holds(scene: IScene, panel: number, box: number): boolean {
  return scene.boxParent[box] === panel;
}

/** The panel that an edge is drawn in: that of its ends, with ports of open children lifted out. */
function levelOf(scene: IScene, s: number, t: number): number {
  const [ps, pt] = [scene.boxParent[s], scene.boxParent[t]];
  if (ps === pt) {
    return ps;
  }
  const above = (panel: number) => (panel < 0 ? -2 : scene.boxParent[panel]);
  if (above(ps) === pt) {
    return pt;
  }
  return above(pt) === ps ? ps : above(ps);
}

/** A wire at a port, pill or connector carries that tensor. */
function tensors(scene: IScene, faults: string[]): void {
  for (let e = 0; e < scene.edgeCount; e++) {
    for (const b of [scene.edgeSource[e], scene.edgeTarget[e]]) {
      const named = scene.boxKind[b] > BoxKind.OpenGroup;
      if (named && scene.boxEntity[b] !== scene.edgeTensor[e]) {
        faults.push(`edge ${e} brings another tensor to box ${b}`);
      }
    }
  }
}

/** All faults of a scene; empty if there are none. Quadratic in a level's boxes. */
export function sceneFaults(scene: IScene): string[] {
  const faults: string[] = [];
  const right = flowingRight(scene);
  titles(scene, faults);
  nesting(right, faults);
  overlaps(right, faults);
  edges(right, faults);
  tensors(right, faults);
  return faults;
}
