/** Opens and closes groups and keeps the scene up to date. */

import { normalHidden, withAncestors } from './hidden';
import { InlineEngine } from './layout/engine';
import type { ILayoutEngine } from './layout/engine';
import { Hierarchy } from './layout/hierarchy';
import { openingSteps, type IOpenings } from './openings';
import { chosenPart, partOf, partsOf, withPart } from './parts';
import { buildScene } from './scene';
import type { IGroupTree } from './tree';
import type { FlowDirection, IGraphView, IScene, ISizer } from './types';

/** A picture of so many boxes says something, however long it is. */
const ENOUGH = 6;

/** Parts of a repeat that a picture has room for. */
const MANY_PARTS = 40;

/** The view, with what tests and benchmarks look at. */
export interface IMeasuredView extends IGraphView {
  readonly tree: IGroupTree;
  renumber(tree: IGroupTree, sizer: ISizer): Promise<IScene>;
  /** Layouts computed and layouts remembered, over the view's life. */
  layoutCounts(): { computed: number; remembered: number };
}

class GraphView implements IMeasuredView {
  constructor(
    tree: IGroupTree,
    sizer: ISizer,
    engine: ILayoutEngine,
    direction: FlowDirection
  ) {
    this._tree = tree;
    this._engine = engine;
    this._hierarchy = new Hierarchy(tree, sizer, engine);
    this._hierarchy.direction = direction;
    this._open = new Uint8Array(tree.groupCount);
    this._dirty = new Uint8Array(tree.groupCount + 1).fill(1);
    this._scene = buildScene(
      tree,
      () => undefined,
      () => false,
      direction,
      0
    );
    this._latest = Promise.resolve(this._scene);
  }

  get tree(): IGroupTree {
    return this._tree;
  }

  get scene(): IScene {
    return this._scene;
  }

  get direction(): FlowDirection {
    return this._hierarchy.direction;
  }

  isOpen(group: number): boolean {
    return this._open[group] === 1;
  }

  setDirection(direction: FlowDirection): Promise<IScene> {
    if (direction !== this.direction) {
      this._hierarchy.direction = direction;
      this._dirty.fill(1);
    }
    return this._refresh();
  }

  renumber(tree: IGroupTree, sizer: ISizer): Promise<IScene> {
    this._tree = tree;
    const { model, nodeParent, groupParent } = tree;
    const changed = this._hierarchy.resize(sizer);
    for (const entity of changed) {
      const group = entity - model.nodeCount;
      this._mark(group < 0 ? nodeParent[entity] : groupParent[group]);
      if (group >= 0 && this._open[group]) {
        // Its panel is as wide as its card.
        this._mark(group);
      }
    }
    return changed.length > 0 ? this._refresh() : this._latest;
  }

  async initial(budget: number, length = Infinity): Promise<IScene> {
    const steps = openingSteps(this.tree, budget);
    const show = ({ open, hidden }: IOpenings) => {
      this._hide(hidden);
      return this._openExactly(open);
    };
    if (length === Infinity) {
      return show(steps[steps.length - 1]);
    }
    let scene = this._scene;
    // Up to the first picture that says enough, the next is taken however long it is.
    const enough = steps.findIndex(({ visible }) => visible >= ENOUGH);
    const first = enough < 0 ? steps.length - 1 : enough;
    for (const [at, step] of steps.entries()) {
      if (at < first) {
        continue;
      }
      const shown = show(step);
      const version = this._version;
      scene = await shown;
      if (version !== this._version) {
        return this._latest;
      }
      const { width, height } = scene;
      const long = (this.direction === 'down' ? height : width) > length;
      if (long && at > 0 && steps[at - 1].visible >= ENOUGH) {
        return show(steps[at - 1]);
      }
    }
    return scene;
  }

  expand(group: number, recursive = false): Promise<IScene> {
    if (!recursive) {
      this._lookInto(group, 0);
    }
    this._set(group, 1);
    if (recursive) {
      this._below(group).forEach(inner => this._set(inner, 1));
    }
    return this._refresh();
  }

  collapse(group: number, recursive = false): Promise<IScene> {
    this._set(group, 0);
    if (recursive) {
      this._below(group).forEach(inner => this._set(inner, 0));
    }
    return this._refresh();
  }

  /** Opens whole depths while at most `maxBoxes` cards are visible. */
  expandAll(maxBoxes: number): Promise<IScene> {
    const { groupCount, groupDepth, children } = this.tree;
    const growth: number[] = [];
    for (let group = 0; group < groupCount; group++) {
      const depth = groupDepth[group];
      growth[depth] = (growth[depth] ?? 0) + children[group + 1].length - 1;
    }
    let visible = children[0].length;
    let depths = 0;
    while (depths < growth.length && visible + growth[depths] <= maxBoxes) {
      visible += growth[depths++];
    }
    for (let group = 0; group < groupCount; group++) {
      if (groupDepth[group] < depths) {
        this._set(group, 1);
      }
    }
    return this._refresh();
  }

  collapseAll(): Promise<IScene> {
    return this._openExactly(new Uint8Array(this.tree.groupCount));
  }

  reveal(entity: number): Promise<IScene> {
    const { model, nodeParent, groupParent } = this.tree;
    let group =
      entity < model.nodeCount
        ? nodeParent[entity]
        : groupParent[entity - model.nodeCount];
    let below = entity;
    for (; group >= 0; group = groupParent[group]) {
      this._lookInto(group, this.tree.children[group + 1].indexOf(below));
      this._set(group, 1);
      below = model.nodeCount + group;
    }
    this._unhide(entity);
    return this._refresh();
  }

  setHidden(entities: Iterable<number>): Promise<IScene> {
    this._hide(normalHidden(this.tree, entities));
    return this._refresh();
  }

  hidden(): number[] {
    return [...this._hierarchy.hidden];
  }

  openGroups(): number[] {
    const groups: number[] = [];
    this._open.forEach((open, group) => {
      if (open) {
        groups.push(group);
      }
    });
    return groups;
  }

  restore(
    open: readonly number[],
    hidden?: readonly number[]
  ): Promise<IScene> {
    if (hidden) {
      this._hide(normalHidden(this.tree, hidden));
    }
    const wanted = new Uint8Array(this.tree.groupCount);
    for (const group of open) {
      if (group >= 0 && group < wanted.length) {
        wanted[group] = 1;
      }
    }
    return this._openExactly(wanted);
  }

  dispose(): void {
    this._version++;
    this._engine.dispose();
  }

  layoutCounts(): { computed: number; remembered: number } {
    return this._hierarchy.counts();
  }

  /** Groups below a group: pre-order makes them the ids after it. */
  private _below(group: number): number[] {
    const { groupDepth, groupCount } = this.tree;
    const groups: number[] = [];
    for (
      let inner = group + 1;
      inner < groupCount && groupDepth[inner] > groupDepth[group];
      inner++
    ) {
      groups.push(inner);
    }
    return groups;
  }

  private _openExactly(wanted: Uint8Array): Promise<IScene> {
    wanted.forEach((open, group) => this._set(group, open));
    return this._refresh();
  }

  /** Opens or closes a group and marks what must be laid out again. */
  private _set(group: number, open: number): void {
    if (group < 0 || group >= this._open.length || this._open[group] === open) {
      return;
    }
    this._open[group] = open;
    this._mark(this.tree.groupParent[group]);
  }

  /** A level must be laid out again, and with it all around it; -1 = root. */
  private _mark(group: number): void {
    const { groupParent } = this.tree;
    let above = group;
    while (above >= 0 && !this._dirty[above + 1]) {
      this._dirty[above + 1] = 1;
      above = groupParent[above];
    }
    if (above < 0) {
      this._dirty[0] = 1;
    }
  }

  /** Hides these entities and no others. */
  private _hide(entities: readonly number[]): void {
    const before = this._hierarchy.hidden;
    const after = new Set(entities);
    const { model, nodeParent, groupParent } = this.tree;
    for (const entity of new Set([...before, ...after])) {
      if (before.has(entity) !== after.has(entity)) {
        const group = entity - model.nodeCount;
        this._mark(group < 0 ? nodeParent[entity] : groupParent[group]);
      }
    }
    this._hierarchy.hidden = after;
  }

  /** A closed repeat of very many parts opens with one of them: all would be no picture. */
  private _lookInto(group: number, index: number): void {
    const { groupFold, groupCount } = this.tree;
    if (group < 0 || group >= groupCount || !groupFold[group]) {
      return;
    }
    const { hidden } = this._hierarchy;
    const parts = partsOf(this.tree, group);
    const untouched = !parts.some(part => hidden.has(part));
    if (!this._open[group] && parts.length > MANY_PARTS && untouched) {
      this._hide(withPart(this.tree, hidden, { fold: group, index }));
    }
  }

  /**
   * Shows the entity with the groups around it; what else is hidden there stays so. A repeat that
   * showed one part alone shows the one that holds the entity instead.
   */
  private _unhide(entity: number): void {
    const { hidden } = this._hierarchy;
    const around = hidden.size > 0 ? withAncestors(this.tree, entity) : [];
    if (!around.some(one => hidden.has(one))) {
      return;
    }
    const gone = new Set(around);
    let next = [...hidden].filter(one => !gone.has(one));
    for (const one of around) {
      const part = hidden.has(one) ? partOf(this.tree, one) : null;
      if (part) {
        const chosen = chosenPart(this.tree, part.fold, e => hidden.has(e));
        next = chosen >= 0 ? withPart(this.tree, next, part) : next;
      }
    }
    this._hide(next);
  }

  /** Whether every ancestor is open, by group; parents come first. */
  private _reached(): Uint8Array {
    const { groupParent, groupCount } = this.tree;
    const reached = new Uint8Array(groupCount);
    for (let group = 0; group < groupCount; group++) {
      const parent = groupParent[group];
      reached[group] =
        parent < 0 || (reached[parent] && this._open[parent]) ? 1 : 0;
    }
    return reached;
  }

  /**
   * Lays out what is dirty, innermost first, and builds the scene. A call that a later one
   * overtook stops and answers with the later one's scene.
   */
  private _refresh(): Promise<IScene> {
    this._latest = this._run(++this._version);
    return this._latest;
  }

  private async _run(version: number): Promise<IScene> {
    const open = this._open.slice();
    const isOpen = (group: number) => open[group] === 1;
    const reached = this._reached();
    for (let group = this.tree.groupCount - 1; group >= -1; group--) {
      const shown = group < 0 || (isOpen(group) && reached[group] === 1);
      if (!shown || !this._dirty[group + 1]) {
        continue;
      }
      let placed = this._hierarchy.place(group, isOpen);
      if (placed instanceof Promise) {
        placed = await placed;
        if (version !== this._version) {
          return this._latest;
        }
      }
      this._hierarchy.keep(group, placed);
      this._dirty[group + 1] = 0;
    }
    const placedOf = (group: number) => this._hierarchy.placed(group);
    this._scene = buildScene(
      this.tree,
      placedOf,
      isOpen,
      this.direction,
      version
    );
    return this._scene;
  }

  private _tree: IGroupTree;
  private readonly _engine: ILayoutEngine;
  private readonly _hierarchy: Hierarchy;
  private readonly _open: Uint8Array;
  /** By group + 1: the layout is missing or out of date. */
  private readonly _dirty: Uint8Array;
  private _scene: IScene;
  private _version = 0;
  private _latest: Promise<IScene>;
}

/**
 * A view of the tree with everything closed and nothing laid out; call `initial` or `restore`.
 * Without an engine the layout runs on this thread.
 */
export function createGraphView(
  tree: IGroupTree,
  sizer: ISizer,
  engine: ILayoutEngine = new InlineEngine(),
  direction: FlowDirection = 'right'
): IMeasuredView {
  return new GraphView(tree, sizer, engine, direction);
}
