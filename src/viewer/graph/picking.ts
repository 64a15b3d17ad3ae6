/** What lies under a point of the view, told in the terms of the rest of the viewer. */
import { pillTensors, wireTensors } from '../../core/series';
import { BoxKind } from '../../core/types';
import type { IHover } from './api';
import { type IPoint, type IRect, toWorld } from './camera';
import { chipAt, isStack, placedChips } from './chips';
import { CHEVRON, HEADER, PAD_X, TITLE_BAR } from './metrics';
import { stepAt, stepperOf } from './title';
import type { IActor } from './interactionHost';

/** Pixels around a wire that count as on it. */
const NEAR_WIRE = 6;

export class Picker {
  constructor(private readonly actor: IActor) {}

  /** The box at a point, -1 = none; `reach` in pixels makes small boxes larger. */
  boxAt(at: IPoint, reach = 0): number {
    const { camera, view, index } = this.actor;
    const p = toWorld(camera, view, at.x, at.y);
    return index?.pick(p.x, p.y, reach / camera.k) ?? -1;
  }

  /** What a box, or else the wire at the point, stands for. */
  whatAt(box: number, at: IPoint): IHover {
    return box >= 0 ? this.ofBox(box) : this.ofWire(at);
  }

  ofBox(box: number): IHover {
    const { scene, links, drawing } = this.actor;
    if (!scene || !drawing) {
      return null;
    }
    const id = scene.boxEntity[box];
    const { series } = drawing.tree;
    switch (scene.boxKind[box]) {
      case BoxKind.Node:
      case BoxKind.Group:
      case BoxKind.OpenGroup:
        return { kind: 'entity', id };
      case BoxKind.Input:
      case BoxKind.Output:
        return pillTensors(series, id);
      default: {
        // A port or a stub stands for what its wire carries.
        const edge = links?.incoming(box)[0] ?? links?.outgoing(box)[0];
        return edge === undefined
          ? { kind: 'tensor', id }
          : wireTensors(scene, series, edge);
      }
    }
  }

  private ofWire(at: IPoint): IHover {
    const { camera, view, index, scene, drawing } = this.actor;
    const p = toWorld(camera, view, at.x, at.y);
    const edge = index?.pickEdge(p.x, p.y, NEAR_WIRE / camera.k) ?? -1;
    return scene && drawing && edge >= 0 && scene.edgeTensor[edge] >= 0
      ? wireTensors(scene, drawing.tree.series, edge)
      : null;
  }

  /** Nodes and closed groups whose middle lies in the rectangle. */
  entitiesIn(area: IRect): number[] {
    const { scene, index } = this.actor;
    if (!scene || !index) {
      return [];
    }
    const inside = (box: number): boolean => {
      const x = scene.boxX[box] + scene.boxW[box] / 2 - area.x;
      const y = scene.boxY[box] + scene.boxH[box] / 2 - area.y;
      return (
        scene.boxKind[box] <= BoxKind.Group &&
        x >= 0 &&
        y >= 0 &&
        x <= area.w &&
        y <= area.h
      );
    };
    const boxes = index.boxesIn(area).filter(inside);
    return boxes.sort((a, b) => a - b).map(box => scene.boxEntity[box]);
  }

  /** The part of the world between two points of the view. */
  areaOf(from: IPoint, to: IPoint): IRect {
    const { camera, view } = this.actor;
    const [left, right] = [Math.min(from.x, to.x), Math.max(from.x, to.x)];
    const [top, bottom] = [Math.min(from.y, to.y), Math.max(from.y, to.y)];
    const a = toWorld(camera, view, left, top);
    const b = toWorld(camera, view, right, bottom);
    return { x: a.x, y: a.y, w: b.x - a.x, h: b.y - a.y };
  }

  /** What a click in the title of a repeat asks for. */
  stepAt(box: number, at: IPoint): 1 | -1 | 0 | null {
    const { camera, view, drawing } = this.actor;
    const stepper = drawing && stepperOf(drawing, box, camera.k);
    if (!stepper) {
      return null;
    }
    const { scene } = drawing;
    const p = toWorld(camera, view, at.x, at.y);
    const left = scene.boxX[box] + this.actor.titleShift(box);
    return stepAt(stepper, p.x - left, p.y - scene.boxY[box]);
  }

  /** The entity of the chip that is pointed at, -1 = none. */
  chipAt(box: number, at: IPoint): number {
    const { camera, view, drawing } = this.actor;
    if (!drawing || box < 0) {
      return -1;
    }
    const { scene } = drawing;
    const p = toWorld(camera, view, at.x, at.y);
    const chips = placedChips(drawing, box, camera.k);
    const [x, y] = [p.x - scene.boxX[box], p.y - scene.boxY[box]];
    const group = chipAt(chips, x, y);
    return group < 0 ? -1 : drawing.model.nodeCount + group;
  }

  onChevron(box: number, at: IPoint): boolean {
    const { scene, camera, view, drawing } = this.actor;
    if (
      !scene ||
      !drawing ||
      scene.boxKind[box] === BoxKind.Node ||
      (scene.boxKind[box] === BoxKind.Group && !isStack(drawing, box))
    ) {
      return false;
    }
    const p = toWorld(camera, view, at.x, at.y);
    const open = scene.boxKind[box] === BoxKind.OpenGroup;
    const left = scene.boxX[box] + this.actor.titleShift(box);
    const height = open ? TITLE_BAR : HEADER;
    return (
      p.x >= left &&
      p.x - left <= PAD_X + CHEVRON &&
      p.y - scene.boxY[box] <= height
    );
  }
}
