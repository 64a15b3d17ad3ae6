/** Finds what lies under a point of the view. */
import { pillTensorRef, wireTensorRef } from '../../../core/tree/tensorSeries';
import { BoxKind } from '../../../core/types';
import type { IHitTarget } from '../surfaceApi';
import { type IPoint, type IRect, toWorld } from '../geometry/camera';
import { chipAt, hasOutlineBehind, placedChips } from '../draw/drawChips';
import {
  CHEVRON_W,
  CARD_HEADER_H,
  CARD_PAD_X,
  TITLE_BAR
} from '../style/metrics';
import { stepperHit, repeatStepper } from '../draw/groupTitle';
import type { IInteractionHost } from './interactionHost';

/** Distance in pixels at which a point counts as on a wire. */
const WIRE_REACH = 6;

export class HitTester {
  constructor(private readonly _actor: IInteractionHost) {}

  /** The box at a point; -1 if there is none. `reach`, in pixels, enlarges small boxes. */
  boxAt(point: IPoint, reach = 0): number {
    const { camera, view, index } = this._actor;
    const p = toWorld(camera, view, point.x, point.y);
    return index?.pick(p.x, p.y, reach / camera.k) ?? -1;
  }

  /** The target of a box, or else of the wire at the point. */
  targetAt(box: number, point: IPoint): IHitTarget {
    return box >= 0 ? this.ofBox(box) : this._ofWire(point);
  }

  ofBox(box: number): IHitTarget {
    const { scene, adjacency, drawing } = this._actor;
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
        return pillTensorRef(series, id);
      default: {
        // A port or a connector stands for the tensor of its wire.
        const edge = adjacency?.incoming(box)[0] ?? adjacency?.outgoing(box)[0];
        return edge === undefined
          ? { kind: 'tensor', id }
          : wireTensorRef(scene, series, edge);
      }
    }
  }

  private _ofWire(point: IPoint): IHitTarget {
    const { camera, view, index, scene, drawing } = this._actor;
    const p = toWorld(camera, view, point.x, point.y);
    const edge = index?.pickEdge(p.x, p.y, WIRE_REACH / camera.k) ?? -1;
    return scene && drawing && edge >= 0 && scene.edgeTensor[edge] >= 0
      ? wireTensorRef(scene, drawing.tree.series, edge)
      : null;
  }

  /** Nodes and collapsed groups whose centre lies in the rectangle. */
  entitiesIn(area: IRect): number[] {
    const { scene, index } = this._actor;
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

  /** The world rectangle between two points of the view. */
  areaOf(from: IPoint, to: IPoint): IRect {
    const { camera, view } = this._actor;
    const [left, right] = [Math.min(from.x, to.x), Math.max(from.x, to.x)];
    const [top, bottom] = [Math.min(from.y, to.y), Math.max(from.y, to.y)];
    const a = toWorld(camera, view, left, top);
    const b = toWorld(camera, view, right, bottom);
    return { x: a.x, y: a.y, w: b.x - a.x, h: b.y - a.y };
  }

  /** The step that a click in the title of a repeat requests. */
  stepAt(box: number, point: IPoint): 1 | -1 | 0 | null {
    const { camera, view, drawing } = this._actor;
    const stepper = drawing && repeatStepper(drawing, box, camera.k);
    if (!stepper) {
      return null;
    }
    const { scene } = drawing;
    const p = toWorld(camera, view, point.x, point.y);
    const left = scene.boxX[box] + this._actor.titleShift(box);
    return stepperHit(stepper, p.x - left, p.y - scene.boxY[box]);
  }

  /** The entity of the chip under the pointer; -1 if there is none. */
  chipAt(box: number, point: IPoint): number {
    const { camera, view, drawing } = this._actor;
    if (!drawing || box < 0) {
      return -1;
    }
    const { scene } = drawing;
    const p = toWorld(camera, view, point.x, point.y);
    const chips = placedChips(drawing, box, camera.k);
    const left = scene.boxX[box] + this._actor.titleShift(box);
    const group = chipAt(chips, p.x - left, p.y - scene.boxY[box]);
    return group < 0 ? -1 : drawing.model.nodeCount + group;
  }

  onChevron(box: number, point: IPoint): boolean {
    const { scene, camera, view, drawing } = this._actor;
    if (
      !scene ||
      !drawing ||
      scene.boxKind[box] === BoxKind.Node ||
      (scene.boxKind[box] === BoxKind.Group && !hasOutlineBehind(drawing, box))
    ) {
      return false;
    }
    const p = toWorld(camera, view, point.x, point.y);
    const open = scene.boxKind[box] === BoxKind.OpenGroup;
    const left = scene.boxX[box] + this._actor.titleShift(box);
    const height = open ? TITLE_BAR : CARD_HEADER_H;
    return (
      p.x >= left &&
      p.x - left <= CARD_PAD_X + CHEVRON_W &&
      p.y - scene.boxY[box] <= height
    );
  }
}
