/** Puts the layouts of all open groups together with absolute coordinates. */

import { firstPorts } from './layout/hierarchy';
import type { IPlacedLevel } from './layout/hierarchy';
import type { IGroupTree } from './tree';
import { BoxKind } from './types';
import type { IScene } from './types';

/** An open group in the scene: its layout, where it lies and where its boxes begin. */
interface IOpened {
  readonly placed: IPlacedLevel;
  readonly x: number;
  readonly y: number;
  /** Box of the panel, -1 = root. */
  readonly panel: number;
  readonly depth: number;
  /** Box of each item; -1 until it is emitted. */
  readonly boxes: Int32Array;
}

class SceneBuilder {
  constructor(
    tree: IGroupTree,
    placedOf: (group: number) => IPlacedLevel | undefined,
    isOpen: (group: number) => boolean
  ) {
    this._tree = tree;
    this._placedOf = placedOf;
    this._isOpen = isOpen;
    const entities = tree.model.nodeCount + tree.groupCount;
    this._boxOfEntity = new Int32Array(entities).fill(-1);
  }

  build(version: number): IScene {
    const root = this._placedOf(-1);
    if (root) {
      this._open(root, 0, 0, -1, 0);
    }
    // Parents come before their children: the list grows while it is read.
    for (let i = 0; i < this._opened.length; i++) {
      this._emitBoxes(this._opened[i]);
    }
    for (const opened of this._opened) {
      this._emitEdges(opened);
    }
    return this._scene(version, root?.width ?? 0, root?.height ?? 0);
  }

  private _open(
    placed: IPlacedLevel,
    x: number,
    y: number,
    panel: number,
    depth: number
  ): IOpened {
    const boxes = new Int32Array(placed.input.itemCount).fill(-1);
    const opened = { placed, x, y, panel, depth, boxes };
    this._opened.push(opened);
    this._openedOfGroup.set(placed.level.group, opened);
    return opened;
  }

  private _emitBoxes(opened: IOpened): void {
    const { placed, panel, depth, boxes } = opened;
    const { level, geometry, input } = placed;
    const { nodeCount } = this._tree.model;
    const x0 = opened.x + placed.originX;
    const y0 = opened.y + placed.originY;
    for (let item = 0; item < input.itemCount; item++) {
      const [w, h] = [input.width[item], input.height[item]];
      const x = x0 + geometry.x[item] - w / 2;
      const y = y0 + geometry.y[item] - h / 2;
      const { kind, entity } = this._describe(placed, item);
      const box = this._kind.length;
      boxes[item] = box;
      this._kind.push(kind);
      this._entity.push(entity);
      this._rectangles.push(x, y, w, h);
      this._depth.push(Math.min(255, depth));
      this._parent.push(panel);
      if (item < level.children.length) {
        this._boxOfEntity[entity] = box;
      }
      if (kind === BoxKind.OpenGroup) {
        const child = this._placedOf(entity - nodeCount);
        if (child) {
          this._open(child, x, y, box, depth + 1);
        }
      }
    }
  }

  private _describe(
    placed: IPlacedLevel,
    item: number
  ): { kind: BoxKind; entity: number } {
    const { level, stubs } = placed;
    const { nodeCount } = this._tree.model;
    if (item < level.children.length) {
      const entity = level.children[item];
      const open = entity >= nodeCount && this._isOpen(entity - nodeCount);
      const group = open ? BoxKind.OpenGroup : BoxKind.Group;
      return { kind: entity < nodeCount ? BoxKind.Node : group, entity };
    }
    const pill = item - level.children.length;
    if (pill < level.inputs.length) {
      return { kind: BoxKind.Input, entity: level.inputs[pill] };
    }
    const { entering, leaving } = firstPorts(level);
    if (item < entering) {
      const output = pill - level.inputs.length;
      return { kind: BoxKind.Output, entity: level.outputs[output] };
    }
    if (item < leaving) {
      return { kind: BoxKind.Port, entity: level.portsIn[item - entering] };
    }
    if (item < level.itemCount) {
      return { kind: BoxKind.Port, entity: level.portsOut[item - leaving] };
    }
    return { kind: BoxKind.Stub, entity: stubs[item - level.itemCount] };
  }

  private _emitEdges(opened: IOpened): void {
    const { placed, boxes } = opened;
    const { geometry } = placed;
    const x0 = opened.x + placed.originX;
    const y0 = opened.y + placed.originY;
    for (let e = 0; e < placed.source.length; e++) {
      const begin = geometry.pointOffsets[e];
      const end = geometry.pointOffsets[e + 1];
      if (begin === end) {
        continue;
      }
      const source = this._end(
        opened,
        placed.source[e],
        placed.sourcePort[e],
        false
      );
      const target = this._end(
        opened,
        placed.target[e],
        placed.targetPort[e],
        true
      );
      this._edges.push(
        source < 0 ? boxes[placed.source[e]] : source,
        target < 0 ? boxes[placed.target[e]] : target,
        placed.tensor[e],
        placed.weight[e]
      );
      for (let i = begin; i < end; i++) {
        this._points.push(
          x0 + geometry.points[2 * i],
          y0 + geometry.points[2 * i + 1]
        );
      }
      this._pointEnds.push(this._points.length / 2);
    }
  }

  /** Box of a port of an open child, -1 when the wire ends at the item itself. */
  private _end(
    opened: IOpened,
    item: number,
    port: number,
    entering: boolean
  ): number {
    if (port < 0) {
      return -1;
    }
    const { nodeCount } = this._tree.model;
    const group = opened.placed.level.children[item] - nodeCount;
    const child = this._openedOfGroup.get(group);
    if (!child) {
      return -1;
    }
    const first = firstPorts(child.placed.level);
    return child.boxes[(entering ? first.entering : first.leaving) + port];
  }

  private _scene(version: number, width: number, height: number): IScene {
    const boxCount = this._kind.length;
    const edgeCount = this._edges.length / 4;
    const rectangle = (part: number) =>
      Float64Array.from(
        { length: boxCount },
        (_, b) => this._rectangles[4 * b + part]
      );
    const edge = (part: number) =>
      Int32Array.from(
        { length: edgeCount },
        (_, e) => this._edges[4 * e + part]
      );
    const boxOfEntity = this._boxOfEntity;
    const { model, nodeParent, groupParent } = this._tree;
    return {
      version,
      width,
      height,
      boxCount,
      boxKind: Uint8Array.from(this._kind),
      boxEntity: Int32Array.from(this._entity),
      boxX: rectangle(0),
      boxY: rectangle(1),
      boxW: rectangle(2),
      boxH: rectangle(3),
      boxDepth: Uint8Array.from(this._depth),
      boxParent: Int32Array.from(this._parent),
      edgeCount,
      edgeSource: edge(0),
      edgeTarget: edge(1),
      edgeTensor: edge(2),
      edgeWeight: edge(3),
      edgeOffsets: Int32Array.from([0, ...this._pointEnds]),
      edgePoints: Float64Array.from(this._points),
      boxOf: entity => {
        let at = entity;
        while (at >= 0 && at < boxOfEntity.length && boxOfEntity[at] < 0) {
          const isNode = at < model.nodeCount;
          const parent = isNode
            ? nodeParent[at]
            : groupParent[at - model.nodeCount];
          at = parent < 0 ? -1 : model.nodeCount + parent;
        }
        return at >= 0 && at < boxOfEntity.length ? boxOfEntity[at] : -1;
      }
    };
  }

  private readonly _tree: IGroupTree;
  private readonly _placedOf: (group: number) => IPlacedLevel | undefined;
  private readonly _isOpen: (group: number) => boolean;
  private readonly _opened: IOpened[] = [];
  private readonly _openedOfGroup = new Map<number, IOpened>();
  private readonly _boxOfEntity: Int32Array;
  private readonly _kind: number[] = [];
  private readonly _entity: number[] = [];
  private readonly _rectangles: number[] = [];
  private readonly _depth: number[] = [];
  private readonly _parent: number[] = [];
  private readonly _edges: number[] = [];
  private readonly _points: number[] = [];
  private readonly _pointEnds: number[] = [];
}

/** The scene of all open groups. `isOpen` must be what the layouts were made with. */
export function buildScene(
  tree: IGroupTree,
  placedOf: (group: number) => IPlacedLevel | undefined,
  isOpen: (group: number) => boolean,
  version: number
): IScene {
  return new SceneBuilder(tree, placedOf, isOpen).build(version);
}
