/** Lays out open groups, children first: levels, cached layouts of equal ones, panels and their ports. */

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

/** A layout in rows and its inputs; it stays valid as long as they do. */
interface IPlacedRows {
  readonly placed: IPlacedLevel;
  readonly room: number;
  readonly straight: IPlacedLevel | undefined;
  readonly inner: readonly (IPlacedLevel | undefined)[];
}

/** Maximum width of a level, and whether rows keep their first items. */
export interface IRowRequest {
  readonly room: number;
  readonly keep: boolean;
}

function capWidth(size: IBoxSize, maxWidth: number): IBoxSize {
  return { w: Math.min(size.w, maxWidth), h: size.h };
}

/** The layout of a level that equals another; only its tensors and entities differ. */
function layoutOfEqualLevel(level: ILevel, equal: IPlacedLevel): IPlacedLevel {
  const { link } = equal;
  let tensor = level.linkTensor;
  if (link.length !== tensor.length) {
    tensor = link.map(l => level.linkTensor[l]);
  }
  return {
    ...equal,
    level,
    tensor,
    ports: {
      ...equal.ports,
      entering: portFinder(level.portsIn),
      leaving: portFinder(level.portsOut)
    }
  };
}

/** Items that begin a row. */
function rowStarts({ geometry }: IPlacedLevel): readonly number[] {
  const breaks = new Set(asRowedResult(geometry)?.breaks);
  const items: number[] = [];
  geometry.rank.forEach((r, item) => breaks.has(r) && items.push(item));
  return items;
}

/** Calls `next` synchronously if the previous step finished synchronously. */
function whenDone<A, B>(
  value: A | Promise<A>,
  next: (value: A) => B | Promise<B>
): B | Promise<B> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** `IItemMeasures.likeness` of items that are not open groups; open groups use their shape. */
const NODE = 0;
const CLOSED_GROUP = 1;
const FIRST_SHAPE = 2;

/** Levels with hidden entities have named connectors and never equal another. */
const NOT_SHARED: ISignatureQuery = {
  equalLevel: null,
  remember: () => undefined
};

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

  /** Hidden entities. */
  hidden: ReadonlySet<number> = new Set();

  /** Direction of the flow; cached layouts of the other direction are kept. */
  direction: FlowDirection = 'right';

  /** True for compact cards. Levels laid out with the other form must be laid out again. */
  compact = false;

  /** Number of computed and of cached layouts. */
  counts(): { computed: number; cached: number } {
    const { misses, hits } = this._layoutCache;
    return { computed: misses, cached: hits + this._signatureCache.hits };
  }

  /** The level of a group (-1 = root), built lazily. */
  level(group: number): ILevel {
    return (this._levels[group + 1] ??= this._builder.build(group));
  }

  /** The layout of a drawn group: in rows if it has several. */
  layoutOf(group: number): IPlacedLevel | undefined {
    return this._rows.get(group)?.placed ?? this._placed[group + 1];
  }

  /** The last layout of a group, with all its descendants, in one row. */
  straight(group: number): IPlacedLevel | undefined {
    return this._placed[group + 1];
  }

  /** Makes a single-row layout the group's current one. */
  storeLayout(group: number, placed: IPlacedLevel): void {
    this._placed[group + 1] = placed;
  }

  /** Drops the rows of all groups but these. */
  storeRows(groups: ReadonlySet<number>): void {
    for (const group of this._rows.keys()) {
      if (!groups.has(group)) {
        this._rows.delete(group);
      }
    }
  }

  /**
   * Lays out a group in one row; its open children must already be laid out. Synchronous unless a worker
   * does the work.
   */
  layOutLevel(
    group: number,
    isOpen: (child: number) => boolean
  ): IPlacedLevel | Promise<IPlacedLevel> {
    return this._place(group, isOpen, child => this.straight(child), null);
  }

  /**
   * Lays out a group in rows and draws that layout; its open children must already be laid out, in one
   * row and, if they have several, in rows.
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
    const keptRows = request.keep && before ? rowStarts(before.placed) : [];
    const rows = { room, kept: keptRows };
    const storePlaced = (placed: IPlacedLevel): void =>
      void this._rows.set(group, { placed, room, straight, inner });
    const placed = this._place(
      group,
      isOpen,
      child => this.layoutOf(child),
      rows
    );
    return placed instanceof Promise
      ? placed.then(storePlaced)
      : storePlaced(placed);
  }

  private _place(
    group: number,
    isOpen: (child: number) => boolean,
    placedOf: (child: number) => IPlacedLevel | undefined,
    rows: { readonly room: number; readonly kept: readonly number[] } | null
  ): IPlacedLevel | Promise<IPlacedLevel> {
    const { direction, hidden } = this;
    const { nodeCount } = this._tree.model;
    const isDrawn = (entity: number, open: boolean) =>
      !hidden.has(entity) &&
      (entity >= nodeCount && isOpen(entity - nodeCount)) === open;
    const level = removeHidden(
      withChips(this._tree, this.level(group), isDrawn),
      hidden
    );
    const items = this._items(level, isOpen, placedOf);
    const title = this._title(level);
    const room = rows?.room ?? Infinity;
    // Rows that keep their first items depend on earlier layouts, which equal levels need not share.
    const shape =
      level.hiddenLinks || rows?.kept.length
        ? NOT_SHARED
        : this._signatureCache.find(level, items, title, direction, room);
    if (shape.equalLevel) {
      return layoutOfEqualLevel(level, shape.equalLevel);
    }
    const assembly = buildLevelGraph(level, items);
    const inner = level.children.some(entity => {
      const child = entity - this._tree.model.nodeCount;
      return child >= 0 && isOpen(child) && placedOf(child)?.falls;
    });
    const run = (runOptions: ILayoutOptions) => {
      const options = inner ? { ...runOptions, falls: true } : runOptions;
      return this._layoutCache.get(assembly.input, options, () =>
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
      return whenDone(
        this._engine.inRows(assembly.input, straight, options),
        inRows => reachingTitle(level, assembly.input, inRows, title.panel)
      );
    };
    const finish = (geometry: ILayoutResult) => {
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
    return whenDone(whenDone(whenDone(first, widen), wrapped), finish);
  }

  /**
   * Applies other card sizes. Cards whose content still fits keep their size; returns those whose content
   * does not.
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
          : this._alongFlow(this._card(children[item]));
      },
      stub: tensor => this._pill(tensor, STUB_MAX),
      ports: item => placedChild(item)?.ports ?? null,
      connectionKind: item =>
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

  private _pill(tensor: number, maxWidth: number = PILL_MAX): IBoxSize {
    const text = pillText(this._tree, tensor);
    return this._alongFlow(capWidth(this._sizer.pill(text), maxWidth));
  }

  /** Text is horizontal in either direction; only the meaning of along and across changes. */
  private _alongFlow(size: IBoxSize): IBoxSize {
    return this.direction === 'right' ? size : { w: size.h, h: size.w };
  }

  /**
   * The port of the tensor with the shortest lifetime: the main stream goes from layer to layer, while
   * masks, tables and skip connections live long.
   */
  private _mainPort(level: ILevel): number {
    const { model, nodePosition, lastRead } = this._tree;
    let main = -1;
    let least = Infinity;
    level.portsIn.forEach((tensor, i) => {
      if (this._tree.series.has(tensor)) {
        return;
      }
      const producer = model.tensorProducer[tensor];
      const position = producer < 0 ? -1 : nodePosition[producer];
      if (lastRead[tensor] - position < least) {
        least = lastRead[tensor] - position;
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

  /** The panel is at least as wide as the group's card. */
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
  private readonly _layoutCache = new LayoutCache();
  private readonly _signatureCache = new LevelSignatureCache();
  private _lastShape = FIRST_SHAPE;
  private readonly _levels: (ILevel | undefined)[];
  /** Single-row layouts, by group + 1. */
  private readonly _placed: (IPlacedLevel | undefined)[];
  /** Layouts in rows, by group. */
  private readonly _rows = new Map<number, IPlacedRows>();
  /** By entity: sizes of full cards, and of compact ones. */
  private readonly _sizes: readonly (IBoxSize | undefined)[][];
}
