/**
 * Combines the layouts of all open groups in absolute coordinates. Layouts use coordinates along and
 * across the flow, which become x and y here.
 */

import { firstPorts } from '../layout/compound/panelGeometry';
import { BoxKind } from '../types';
import type { FlowDirection, IScene } from '../types';
import type { IPlacedLevel } from '../layout/compound/levelTypes';
import type { IGroupTree } from '../tree/treeTypes';

/** An open group in the scene: its layout and position, and its first box and edge. */
interface IPlacedGroup {
  readonly placed: IPlacedLevel;
  /** Start of the panel. */
  readonly along: number;
  readonly across: number;
  /** Box of the panel; -1 is the root. */
  readonly panel: number;
  readonly depth: number;
  /** Box of item 0; the others follow. */
  readonly firstBox: number;
}

/** The scene's columns, of known length. */
class SceneColumns {
  constructor(boxes: number, edges: number, points: number) {
    this.boxKind = new Uint8Array(boxes);
    this.boxEntity = new Int32Array(boxes);
    this.boxX = new Float64Array(boxes);
    this.boxY = new Float64Array(boxes);
    this.boxW = new Float64Array(boxes);
    this.boxH = new Float64Array(boxes);
    this.boxDepth = new Uint8Array(boxes);
    this.boxParent = new Int32Array(boxes);
    this.edgeSource = new Int32Array(edges);
    this.edgeTarget = new Int32Array(edges);
    this.edgeTensor = new Int32Array(edges);
    this.edgeWeight = new Int32Array(edges);
    this.edgeOffsets = new Int32Array(edges + 1);
    this.edgePoints = new Float64Array(2 * points);
  }

  readonly boxKind: Uint8Array;
  readonly boxEntity: Int32Array;
  readonly boxX: Float64Array;
  readonly boxY: Float64Array;
  readonly boxW: Float64Array;
  readonly boxH: Float64Array;
  readonly boxDepth: Uint8Array;
  readonly boxParent: Int32Array;
  readonly edgeSource: Int32Array;
  readonly edgeTarget: Int32Array;
  readonly edgeTensor: Int32Array;
  readonly edgeWeight: Int32Array;
  readonly edgeOffsets: Int32Array;
  readonly edgePoints: Float64Array;
}

class SceneBuilder {
  constructor(
    tree: IGroupTree,
    placedOf: (group: number) => IPlacedLevel | undefined,
    isOpen: (group: number) => boolean,
    direction: FlowDirection
  ) {
    this._tree = tree;
    this._direction = direction;
    this._down = direction === 'down';
    this._placedOf = placedOf;
    this._isOpen = isOpen;
    const { nodeCount } = tree.model;
    this._boxOfEntity = new Int32Array(nodeCount + tree.groupCount).fill(-1);
    this._openedOfGroup = new Int32Array(tree.groupCount).fill(-1);
  }

  build(version: number): IScene {
    const root = this._placedOf(-1);
    if (root) {
      this._open(root, 0, 0, -1, 0);
    }
    // Parents come before their children: the list grows while it is read.
    for (let i = 0; i < this._opened.length; i++) {
      this._openChildren(this._opened[i]);
    }
    const columns = new SceneColumns(this._boxes, this._edges, this._points);
    this._edges = 0;
    this._points = 0;
    for (const opened of this._opened) {
      this._fillBoxes(opened, columns);
      opened.placed.level.chips?.forEach((host, chip) => {
        this._boxOfEntity[chip] = this._boxOfEntity[host];
      });
      this._fillEdges(opened, columns);
    }
    return {
      ...columns,
      version,
      direction: this._direction,
      inRows: root?.falls ?? false,
      width: (this._down ? root?.across : root?.along) ?? 0,
      height: (this._down ? root?.along : root?.across) ?? 0,
      boxCount: this._boxes,
      edgeCount: this._edges,
      // Self-loops have no points and are omitted.
      edgeOffsets: columns.edgeOffsets.subarray(0, this._edges + 1),
      boxOf: this._finder()
    };
  }

  private _open(
    placed: IPlacedLevel,
    along: number,
    across: number,
    panel: number,
    depth: number
  ): void {
    const { group } = placed.level;
    if (group >= 0) {
      this._openedOfGroup[group] = this._opened.length;
    }
    const firstBox = this._boxes;
    this._opened.push({ placed, along, across, panel, depth, firstBox });
    this._boxes += placed.input.itemCount;
    this._edges += placed.source.length;
    this._points += placed.geometry.points.length / 2;
  }

  private _openChildren(opened: IPlacedGroup): void {
    const { placed, firstBox, depth } = opened;
    const { level, geometry } = placed;
    const { nodeCount } = this._tree.model;
    for (let item = 0; item < level.children.length; item++) {
      const group = level.children[item] - nodeCount;
      const child =
        group >= 0 && this._isOpen(group) ? this._placedOf(group) : undefined;
      if (child) {
        const along = opened.along + placed.originAlong + geometry.x[item];
        const across = opened.across + placed.originAcross + geometry.y[item];
        this._open(
          child,
          along - child.along / 2,
          across - child.across / 2,
          firstBox + item,
          depth + 1
        );
      }
    }
  }

  private _fillBoxes(opened: IPlacedGroup, columns: SceneColumns): void {
    const { placed, firstBox } = opened;
    const { geometry, input } = placed;
    const along0 = opened.along + placed.originAlong;
    const across0 = opened.across + placed.originAcross;
    const [x, y, w, h] = this._down
      ? [columns.boxY, columns.boxX, columns.boxH, columns.boxW]
      : [columns.boxX, columns.boxY, columns.boxW, columns.boxH];
    for (let item = 0; item < input.itemCount; item++) {
      const box = firstBox + item;
      this._describe(placed, item, box, columns);
      w[box] = input.width[item];
      h[box] = input.height[item];
      x[box] = along0 + geometry.x[item] - w[box] / 2;
      y[box] = across0 + geometry.y[item] - h[box] / 2;
      columns.boxDepth[box] = Math.min(255, opened.depth);
      columns.boxParent[box] = opened.panel;
    }
  }

  /** Kind and entity of an item's box. */
  private _describe(
    placed: IPlacedLevel,
    item: number,
    box: number,
    columns: SceneColumns
  ): void {
    const { level, stubs } = placed;
    const { nodeCount } = this._tree.model;
    const pill = item - level.children.length;
    const { entering, leaving } = firstPorts(level);
    const set = (kind: BoxKind, entity: number) => {
      columns.boxKind[box] = kind;
      columns.boxEntity[box] = entity;
    };
    if (pill < 0) {
      const entity = level.children[item];
      const group = entity - nodeCount;
      const open = group >= 0 && this._isOpen(group);
      const ofGroup = open ? BoxKind.OpenGroup : BoxKind.Group;
      set(group < 0 ? BoxKind.Node : ofGroup, entity);
      this._boxOfEntity[entity] = box;
    } else if (pill < level.inputs.length) {
      set(BoxKind.Input, level.inputs[pill]);
    } else if (item < entering) {
      set(BoxKind.Output, level.outputs[pill - level.inputs.length]);
    } else if (item < leaving) {
      set(BoxKind.Port, level.portsIn[item - entering]);
    } else if (item < level.itemCount) {
      set(BoxKind.Port, level.portsOut[item - leaving]);
    } else {
      set(BoxKind.Stub, stubs[item - level.itemCount]);
    }
  }

  private _fillEdges(opened: IPlacedGroup, columns: SceneColumns): void {
    const { placed } = opened;
    const { geometry } = placed;
    const along0 = opened.along + placed.originAlong;
    const across0 = opened.across + placed.originAcross;
    const [alongAt, acrossAt] = this._down ? [1, 0] : [0, 1];
    for (let e = 0; e < placed.source.length; e++) {
      const begin = geometry.pointOffsets[e];
      const end = geometry.pointOffsets[e + 1];
      if (begin === end) {
        continue;
      }
      const edge = this._edges++;
      columns.edgeSource[edge] = this._sourceBox(opened, e);
      columns.edgeTarget[edge] = this._targetBox(opened, e);
      const isSingle = placed.weight[e] === 1 && placed.link[e] >= 0;
      columns.edgeTensor[edge] = isSingle
        ? placed.level.linkMember[placed.link[e]]
        : placed.tensor[e];
      columns.edgeWeight[edge] = placed.weight[e];
      for (let i = begin; i < end; i++) {
        const position = 2 * this._points++;
        columns.edgePoints[position + alongAt] =
          along0 + geometry.points[2 * i];
        columns.edgePoints[position + acrossAt] =
          across0 + geometry.points[2 * i + 1];
      }
      columns.edgeOffsets[edge + 1] = this._points;
    }
  }

  /** Box of the item at which edge e starts, or the port's box for an open child. */
  private _sourceBox(opened: IPlacedGroup, e: number): number {
    const { source, sourcePort } = opened.placed;
    const child =
      sourcePort[e] < 0 ? undefined : this._childOf(opened, source[e]);
    return child
      ? child.firstBox + firstPorts(child.placed.level).leaving + sourcePort[e]
      : opened.firstBox + source[e];
  }

  private _targetBox(opened: IPlacedGroup, e: number): number {
    const { target, targetPort } = opened.placed;
    const child =
      targetPort[e] < 0 ? undefined : this._childOf(opened, target[e]);
    return child
      ? child.firstBox + firstPorts(child.placed.level).entering + targetPort[e]
      : opened.firstBox + target[e];
  }

  private _childOf(
    opened: IPlacedGroup,
    item: number
  ): IPlacedGroup | undefined {
    const { children } = opened.placed.level;
    const group = children[item] - this._tree.model.nodeCount;
    return this._opened[this._openedOfGroup[group]];
  }

  /** See `IScene.boxOf`. */
  private _finder(): (entity: number) => number {
    const boxOfEntity = this._boxOfEntity;
    const { model, nodeParent, groupParent } = this._tree;
    return entity => {
      let ancestor = entity;
      while (
        ancestor >= 0 &&
        ancestor < boxOfEntity.length &&
        boxOfEntity[ancestor] < 0
      ) {
        const isNode = ancestor < model.nodeCount;
        const parent = isNode
          ? nodeParent[ancestor]
          : groupParent[ancestor - model.nodeCount];
        ancestor = parent < 0 ? -1 : model.nodeCount + parent;
      }
      return ancestor >= 0 && ancestor < boxOfEntity.length
        ? boxOfEntity[ancestor]
        : -1;
    };
  }

  private readonly _tree: IGroupTree;
  private readonly _direction: FlowDirection;
  private readonly _down: boolean;
  private readonly _placedOf: (group: number) => IPlacedLevel | undefined;
  private readonly _isOpen: (group: number) => boolean;
  private readonly _opened: IPlacedGroup[] = [];
  /** Index in `_opened` by group; -1 if it is not shown. */
  private readonly _openedOfGroup: Int32Array;
  private readonly _boxOfEntity: Int32Array;
  private _boxes = 0;
  private _edges = 0;
  private _points = 0;
}

/** The scene of all open groups. `isOpen` and `direction` must be those of the layouts. */
export function buildScene(
  tree: IGroupTree,
  placedOf: (group: number) => IPlacedLevel | undefined,
  isOpen: (group: number) => boolean,
  direction: FlowDirection,
  version: number
): IScene {
  return new SceneBuilder(tree, placedOf, isOpen, direction).build(version);
}
