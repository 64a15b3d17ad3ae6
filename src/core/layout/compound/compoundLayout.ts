/** Lays out open groups, children first: levels, memory of equal ones, panels and their ports. */

import { withChips } from '../../tree/chips';
import { removeHidden } from '../../tree/hiddenEntities';
import { LevelBuilder } from '../../tree/groupLevel';
import { pillText } from '../../tree/tensorSeries';
import type { FlowDirection, ISizer } from '../../types';
import { buildLevelGraph } from './levelGraph';
import type { ILayoutEngine } from '../engine/layoutEngine';
import { computeImportance } from './pathImportance';
import { LayoutCache } from './layoutCache';
import { PILL_MAX, STUB_MAX } from './layoutMetrics';
import {
  firstPorts,
  margins,
  layoutOptionsFor,
  reachingTitle,
  widenForTitle,
  panelAround
} from './panelGeometry';
import type { ITitleRoom } from './panelGeometry';
import { portFinder, childPorts } from './panelPorts';
import { asRowedResult } from '../rows/rowedResult';
import { LevelSignatureCache } from './levelSignatureCache';
import type { ISignatureQuery } from './levelSignatureCache';
import type { ILayoutOptions, ILayoutResult } from '../layered/layoutTypes';
import type { IItemMeasures, IBoxSize, IPlacedLevel } from './levelTypes';
import type { IGroupTree, ILevel } from '../../tree/treeTypes';

/** A layout in rows, and what it was made of: while that stays, so does it. */
interface IPlacedRows {
  readonly placed: IPlacedLevel;
  readonly room: number;
  readonly straight: IPlacedLevel | undefined;
  readonly inner: readonly (IPlacedLevel | undefined)[];
}

/** How wide a level may be, and whether rows begin where they began. */
export interface IRowRequest {
  readonly room: number;
  readonly keep: boolean;
}

function capWidth(size: IBoxSize, most: number): IBoxSize {
  return { w: Math.min(size.w, most), h: size.h };
}

/** The layout of a level that looks like another one: only tensors and entities are its own. */
function twinOf(level: ILevel, twin: IPlacedLevel): IPlacedLevel {
  const { link } = twin;
  let tensor = level.linkTensor;
  if (link.length !== tensor.length) {
    tensor = link.map(l => level.linkTensor[l]);
  }
  return {
    ...twin,
    level,
    tensor,
    ports: {
      ...twin.ports,
      entering: portFinder(level.portsIn),
      leaving: portFinder(level.portsOut)
    }
  };
}

/** Items that begin a row. */
function beginsOf({ geometry }: IPlacedLevel): readonly number[] {
  const breaks = new Set(asRowedResult(geometry)?.breaks);
  const items: number[] = [];
  geometry.rank.forEach((r, item) => breaks.has(r) && items.push(item));
  return items;
}

/** The next step at once where the one before answered at once. */
function after<A, B>(
  value: A | Promise<A>,
  next: (value: A) => B | Promise<B>
): B | Promise<B> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** `IItemMeasures.likeness` of items that are not open groups; those have their shape. */
const NODE = 0;
const CLOSED_GROUP = 1;
const FIRST_SHAPE = 2;

/** Levels with something hidden have stubs, which bear names: none is like another. */
const NO_TWIN: ISignatureQuery = { twin: null, remember: () => undefined };

export class CompoundLayout {
  constructor(tree: IGroupTree, sizer: ISizer, engine: ILayoutEngine) {
    this._tree = tree;
    this._sizer = sizer;
    this._engine = engine;
    this._importance = computeImportance(tree);
    this._builder = new LevelBuilder(tree);
    this._levels = new Array<ILevel | undefined>(tree.groupCount + 1);
    this._placed = new Array<IPlacedLevel | undefined>(tree.groupCount + 1);
    const sizes = () =>
      new Array<IBoxSize | undefined>(tree.model.nodeCount + tree.groupCount);
    this._sizes = [sizes(), sizes()];
  }

  /** Entities that are left out. */
  hidden: ReadonlySet<number> = new Set();

  /** Which way the pictures flow; what is kept of the other way stays remembered. */
  direction: FlowDirection = 'right';

  /** Cards are short ones. What is laid out with others is to be laid out again. */
  compact = false;

  /** Layouts computed, and layouts taken from memory. */
  counts(): { computed: number; remembered: number } {
    const { misses, hits } = this._memo;
    return { computed: misses, remembered: hits + this._shapes.hits };
  }

  /** The level of a group (-1 = root), built on first need. */
  level(group: number): ILevel {
    return (this._levels[group + 1] ??= this._builder.build(group));
  }

  /** The layout of a group that is drawn: in rows where it is in rows. */
  layoutOf(group: number): IPlacedLevel | undefined {
    return this._rows.get(group)?.placed ?? this._placed[group + 1];
  }

  /** The last layout of a group in one row, and so all that is in it. */
  straight(group: number): IPlacedLevel | undefined {
    return this._placed[group + 1];
  }

  /** Makes a layout in one row the group's current one. */
  storeLayout(group: number, placed: IPlacedLevel): void {
    this._placed[group + 1] = placed;
  }

  /** Puts no group in rows but these. */
  storeRows(groups: ReadonlySet<number>): void {
    for (const group of this._rows.keys()) {
      if (!groups.has(group)) {
        this._rows.delete(group);
      }
    }
  }

  /**
   * Lays out a group in one row; its open children are laid out and kept already. Answers at once unless
   * a worker does the work.
   */
  layOutLevel(
    group: number,
    isOpen: (child: number) => boolean
  ): IPlacedLevel | Promise<IPlacedLevel> {
    return this._place(group, isOpen, child => this.straight(child), null);
  }

  /**
   * Lays out a group in rows and makes that what is drawn; its open children are laid out already, in one
   * row and, where they have several, in rows.
   */
  layOutRows(
    group: number,
    isOpen: (child: number) => boolean,
    request: IRowRequest
  ): void | Promise<void> {
    const straight = this.straight(group);
    const children = this.level(group).children;
    const inner = [...children].map(entity => {
      const child = entity - this._tree.model.nodeCount;
      return child >= 0 && isOpen(child) ? this.layoutOf(child) : undefined;
    });
    const before = this._rows.get(group);
    const { room } = request;
    if (
      before?.room === room &&
      before.straight === straight &&
      before.inner.every((placed, i) => placed === inner[i])
    ) {
      return;
    }
    const kept = request.keep && before ? beginsOf(before.placed) : [];
    const rows = { room, kept };
    const keep = (placed: IPlacedLevel): void =>
      void this._rows.set(group, { placed, room, straight, inner });
    const placed = this._place(
      group,
      isOpen,
      child => this.layoutOf(child),
      rows
    );
    return placed instanceof Promise ? placed.then(keep) : keep(placed);
  }

  private _place(
    group: number,
    isOpen: (child: number) => boolean,
    placedOf: (child: number) => IPlacedLevel | undefined,
    rows: { readonly room: number; readonly kept: readonly number[] } | null
  ): IPlacedLevel | Promise<IPlacedLevel> {
    const { direction, hidden } = this;
    const { nodeCount } = this._tree.model;
    const isClosed = (entity: number) =>
      !hidden.has(entity) &&
      (entity < nodeCount || !isOpen(entity - nodeCount));
    const level = removeHidden(
      withChips(this._tree, this.level(group), isClosed),
      hidden
    );
    const items = this._items(level, isOpen, placedOf);
    const title = this._title(level);
    const room = rows?.room ?? Infinity;
    // Rows that keep their beginnings have a past that equal levels need not share.
    const shape =
      level.hiddenLinks || rows?.kept.length
        ? NO_TWIN
        : this._shapes.find(level, items, title, direction, room);
    if (shape.twin) {
      return twinOf(level, shape.twin);
    }
    const assembly = buildLevelGraph(level, items);
    const inner = level.children.some(entity => {
      const child = entity - this._tree.model.nodeCount;
      return child >= 0 && isOpen(child) && placedOf(child)?.falls;
    });
    const run = (given: ILayoutOptions) => {
      const options = inner ? { ...given, falls: true } : given;
      return this._memo.get(assembly.input, options, () =>
        this._engine.layout(assembly.input, options)
      );
    };
    const widen = (geometry: ILayoutResult) => {
      const options = widenForTitle(level, geometry, title.panel, direction);
      return options ? run(options) : geometry;
    };
    const wrapped = (straight: ILayoutResult) => {
      if (rows === null) {
        return straight;
      }
      const sides = margins(level, direction);
      const content = group < 0 ? room : room - sides.before - sides.after;
      const options = { room: content, kept: rows.kept };
      return after(
        this._engine.inRows(assembly.input, straight, options),
        inRows => reachingTitle(level, assembly.input, inRows, title.panel)
      );
    };
    const settle = (geometry: ILayoutResult) => {
      const panel = panelAround(level, geometry, title, direction);
      const placed = {
        ...assembly,
        ...panel,
        level,
        geometry,
        shape: this._lastShape++,
        falls: inner || asRowedResult(geometry) !== null,
        ports: childPorts(level, geometry, panel)
      };
      shape.remember(placed);
      return placed;
    };
    const first = run(layoutOptionsFor(direction));
    return after(after(after(first, widen), wrapped), settle);
  }

  /**
   * Takes other sizes. Cards that still have room for what stands on them stay as they are; answers
   * with those that do not.
   */
  resize(sizer: ISizer): number[] {
    this._sizer = sizer;
    const changed: number[] = [];
    this._sizes[this.compact ? 0 : 1].fill(undefined);
    const sizes = this._sizes[this.compact ? 1 : 0];
    sizes.forEach((before, entity) => {
      if (before) {
        sizes[entity] = undefined;
        const after = this._card(entity);
        if (after.w > before.w || after.h !== before.h) {
          changed.push(entity);
        } else {
          sizes[entity] = before;
        }
      }
    });
    return changed;
  }

  private _items(
    level: ILevel,
    isOpen: (child: number) => boolean,
    placedOf: (child: number) => IPlacedLevel | undefined
  ): IItemMeasures {
    const { nodeCount } = this._tree.model;
    const { inputs, outputs, children } = level;
    const opened = children.map(entity =>
      entity >= nodeCount && isOpen(entity - nodeCount)
        ? entity - nodeCount
        : -1
    );
    const placedChild = (item: number) =>
      item < children.length && opened[item] >= 0
        ? placedOf(opened[item])
        : undefined;
    return {
      size: item => {
        if (item >= children.length) {
          const i = item - children.length;
          const isInput = i < inputs.length;
          return this._pill(isInput ? inputs[i] : outputs[i - inputs.length]);
        }
        const placed = placedChild(item);
        return placed
          ? { w: placed.along, h: placed.across }
          : this._turned(this._card(children[item]));
      },
      stub: tensor => this._pill(tensor, STUB_MAX),
      ports: item => placedChild(item)?.ports ?? null,
      likeness: item =>
        placedChild(item)?.shape ??
        (item < children.length && children[item] >= nodeCount
          ? CLOSED_GROUP
          : NODE),
      importance: item => this._importance[children[item]],
      mainPort: this._mainPort(level),
      closedGroup: item =>
        item < children.length &&
        children[item] >= nodeCount &&
        opened[item] < 0
    };
  }

  private _pill(tensor: number, most: number = PILL_MAX): IBoxSize {
    const text = pillText(this._tree, tensor);
    return this._turned(capWidth(this._sizer.pill(text), most));
  }

  /** Texts stay level whichever way the picture flows: only what is along and across changes. */
  private _turned(size: IBoxSize): IBoxSize {
    return this.direction === 'right' ? size : { w: size.h, h: size.w };
  }

  /**
   * The port of the tensor that lives shortest: the stream that runs through the layers goes from one to
   * the next, where masks, tables and skips are kept for long.
   */
  private _mainPort(level: ILevel): number {
    const { model, nodePlace, lastRead } = this._tree;
    let main = -1;
    let least = Infinity;
    level.portsIn.forEach((tensor, i) => {
      if (this._tree.series.has(tensor)) {
        return;
      }
      const producer = model.tensorProducer[tensor];
      const made = producer < 0 ? -1 : nodePlace[producer];
      if (lastRead[tensor] - made < least) {
        least = lastRead[tensor] - made;
        main = firstPorts(level).entering + i;
      }
    });
    return main;
  }

  private _card(entity: number): IBoxSize {
    const { nodeCount } = this._tree.model;
    const { compact } = this;
    return (this._sizes[compact ? 1 : 0][entity] ??=
      entity < nodeCount
        ? this._sizer.node(entity, compact)
        : this._sizer.group(entity - nodeCount, compact));
  }

  /** The panel is as wide as the group's card at least. */
  private _title({ group }: ILevel): ITitleRoom {
    return group < 0
      ? { panel: 0, text: 0 }
      : {
          panel: this._card(this._tree.model.nodeCount + group).w,
          text: this._sizer.title(group)
        };
  }

  private readonly _tree: IGroupTree;
  private _sizer: ISizer;
  private readonly _engine: ILayoutEngine;
  private readonly _builder: LevelBuilder;
  /** By entity. */
  private readonly _importance: Float64Array;
  private readonly _memo = new LayoutCache();
  private readonly _shapes = new LevelSignatureCache();
  private _lastShape = FIRST_SHAPE;
  private readonly _levels: (ILevel | undefined)[];
  /** In one row, by group + 1. */
  private readonly _placed: (IPlacedLevel | undefined)[];
  /** In rows, by group. */
  private readonly _rows = new Map<number, IPlacedRows>();
  /** By entity: of whole cards, of short ones. */
  private readonly _sizes: readonly (IBoxSize | undefined)[][];
}
