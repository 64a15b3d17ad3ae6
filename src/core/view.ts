/** Opens and closes groups and keeps the scene up to date. */

import { normalHidden } from './hidden';
import { InlineEngine } from './layout/engine';
import type { ILayoutEngine } from './layout/engine';
import { Hierarchy } from './layout/hierarchy';
import { openingSteps, type IOpenings } from './openings';
import { buildScene } from './scene';
import { Shown } from './shown';
import type { IGroupTree } from './tree';
import type { FlowDirection, IGraphView, IScene, ISizer } from './types';

/** A picture of so many boxes says something: a longer one must have room. */
const ENOUGH = 6;
/** One of so many does where those after it only show what carries little of the arithmetic. */
const HARDLY_ENOUGH = 3;
/** The part of the pane that they may fill: a smaller picture is a dear price for a look at little. */
const LIGHT_ROOM = 0.7;

/** So long a layout may keep the page from answering, in milliseconds. */
const BREATH = 40;

const turn = () => new Promise<void>(resolve => setTimeout(resolve));

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
    this._shown = new Shown(tree);
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

  onProgress: ((share: number) => void) | null = null;

  get scene(): IScene {
    return this._scene;
  }

  get direction(): FlowDirection {
    return this._hierarchy.direction;
  }

  isOpen(group: number): boolean {
    return this._shown.isOpen(group);
  }

  setDirection(direction: FlowDirection): Promise<IScene> {
    if (direction !== this.direction) {
      this._hierarchy.direction = direction;
      this._shown.spoil();
    }
    return this._refresh();
  }

  renumber(tree: IGroupTree, sizer: ISizer): Promise<IScene> {
    this._tree = tree;
    const changed = this._hierarchy.resize(sizer);
    this._shown.resized(changed);
    return changed.length > 0 ? this._refresh() : this._latest;
  }

  async initial(budget: number, length = Infinity): Promise<IScene> {
    const steps = openingSteps(this.tree, budget);
    const show = ({ open, hidden }: IOpenings) => {
      this._shown.hide(hidden);
      return this._openExactly(open);
    };
    if (length === Infinity) {
      return show(steps[steps.length - 1]);
    }
    let scene = this._scene;
    // Up to the first picture that says enough, the next is taken however long it is.
    const isEnough = (at: number): boolean =>
      steps[at].visible >= ENOUGH ||
      (steps[at].visible >= HARDLY_ENOUGH &&
        steps.slice(at + 1).every(({ light }) => light));
    const enough = steps.findIndex((_, at) => isEnough(at));
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
      const room = step.light ? LIGHT_ROOM * length : length;
      const long = (this.direction === 'down' ? height : width) > room;
      if (long && at > 0 && isEnough(at - 1)) {
        return show(steps[at - 1]);
      }
    }
    return scene;
  }

  expand(group: number, recursive = false): Promise<IScene> {
    this._shown.set(group, true, recursive);
    return this._refresh();
  }

  collapse(group: number, recursive = false): Promise<IScene> {
    this._shown.set(group, false, recursive);
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
    this._shown.openDepths(depths);
    return this._refresh();
  }

  collapseAll(): Promise<IScene> {
    return this._openExactly(new Uint8Array(this.tree.groupCount));
  }

  reveal(entity: number): Promise<IScene> {
    this._shown.reveal(entity);
    return this._refresh();
  }

  setHidden(entities: Iterable<number>): Promise<IScene> {
    this._shown.hide(normalHidden(this.tree, entities));
    return this._refresh();
  }

  hidden(): number[] {
    return [...this._shown.hidden];
  }

  openGroups(): number[] {
    return this._shown.openGroups();
  }

  restore(
    open: readonly number[],
    hidden?: readonly number[]
  ): Promise<IScene> {
    if (hidden) {
      this._shown.hide(normalHidden(this.tree, hidden));
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
    // A layout under way answers with this: with itself it would wait forever.
    this._latest = Promise.resolve(this._scene);
    this._engine.dispose();
  }

  layoutCounts(): { computed: number; remembered: number } {
    return this._hierarchy.counts();
  }

  private _openExactly(wanted: Uint8Array): Promise<IScene> {
    this._shown.setExactly(wanted);
    return this._refresh();
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
    const shown = this._shown;
    this._hierarchy.hidden = shown.hidden;
    const open = shown.copy();
    const isOpen = (group: number) => open[group] === 1;
    const stale = shown.stale();
    let breath = performance.now();
    for (const [at, group] of stale.entries()) {
      if (performance.now() - breath > BREATH) {
        this.onProgress?.(at / stale.length);
        await turn();
        if (version !== this._version) {
          return this._latest;
        }
        breath = performance.now();
      }
      let placed = this._hierarchy.place(group, isOpen);
      if (placed instanceof Promise) {
        placed = await placed;
        if (version !== this._version) {
          return this._latest;
        }
      }
      this._hierarchy.keep(group, placed);
      shown.settle(group);
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
  private readonly _shown: Shown;
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
