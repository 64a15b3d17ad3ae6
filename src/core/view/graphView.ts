/** Opens and closes groups and keeps the scene up to date. */

import { bestRows } from './rowArrangement';
import { lastNotLonger, lastReadable } from './firstView';
import { canonicalHidden } from '../tree/hiddenEntities';
import { InlineEngine } from '../layout/engine/layoutEngine';
import type { ILayoutEngine } from '../layout/engine/layoutEngine';
import { LevelLayouts } from './levelLayouts';
import type { ILayoutJob } from './levelLayouts';
import { expansionSteps, type IInitialExpansion } from './initialExpansion';
import { MIN_READABLE_ZOOM, readableLength, fitZoom } from '../layout/paneZoom';
import { buildScene } from './sceneBuilder';
import type {
  Flow,
  FlowDirection,
  IGraphView,
  IPane,
  IRowWidth,
  IScene,
  ISizer
} from '../types';
import type { IGroupTree } from '../tree/treeTypes';

/** The view with counters for tests and benchmarks. */
export interface IInstrumentedGraphView extends IGraphView {
  readonly tree: IGroupTree;
  updateNumbers(tree: IGroupTree, sizer: ISizer): Promise<IScene>;
  /** Number of computed and of cached layouts since the view was created. */
  layoutCounts(): { computed: number; cached: number };
}

/** Minimum gain in size for compact cards. */
const COMPACT_GAIN = 1.06;
/** Graphs with more boxes are not readable as a whole, whatever their cards. */
const MAX_COMPACT_BOXES = 600;

/** Direction of a flow. */
export function directionOf(flow: Flow): FlowDirection {
  return flow === 'down' ? 'down' : 'right';
}

class GraphView implements IInstrumentedGraphView {
  constructor(
    tree: IGroupTree,
    sizer: ISizer,
    engine: ILayoutEngine,
    private _flow: Flow
  ) {
    this._engine = engine;
    this._layouts = new LevelLayouts(tree, sizer, engine, directionOf(_flow));
    this._scene = buildScene(
      tree,
      () => undefined,
      () => false,
      this.direction,
      0
    );
    this._latest = Promise.resolve(this._scene);
  }

  get tree(): IGroupTree {
    return this._layouts.tree;
  }

  onProgress: ((share: number) => void) | null = null;

  get scene(): IScene {
    return this._scene;
  }

  get direction(): FlowDirection {
    return this._layouts.hierarchy.direction;
  }

  get flow(): Flow {
    return this._flow;
  }

  get rows(): IRowWidth | null {
    return this._rows;
  }

  isOpen(group: number): boolean {
    return this._shown.isOpen(group);
  }

  setDirection(direction: FlowDirection): Promise<IScene> {
    this._turn(direction);
    return this._refresh();
  }

  setFlow(flow: Flow, pane: IPane): Promise<IScene> {
    this._turn(flow);
    return flow === 'auto' || flow === 'wrapped'
      ? this._refresh(job => this._arrange(job, flow, pane))
      : this._refresh();
  }

  updateNumbers(tree: IGroupTree, sizer: ISizer): Promise<IScene> {
    this._layouts.tree = tree;
    const changed = this._layouts.hierarchy.resize(sizer);
    this._shown.invalidateSizes(changed);
    return changed.length > 0 ? this._refresh() : this._latest;
  }

  openInitial(budget: number, length = Infinity): Promise<IScene> {
    const steps = expansionSteps(this.tree, budget);
    return this._refresh(async job => {
      const step = await lastNotLonger(steps, length, async candidate =>
        (await this._show(candidate, job)) ? this._size().width : null
      );
      return step !== null && this._show(step, job);
    });
  }

  openInitialIn(budget: number, flow: Flow, pane: IPane): Promise<IScene> {
    this._turn(flow);
    if (flow === 'right' || flow === 'down') {
      return this.openInitial(
        budget,
        readableLength(flow === 'down' ? pane.h : pane.w)
      );
    }
    const steps = expansionSteps(this.tree, budget);
    return this._refresh(async job => {
      const best = await lastReadable(steps, pane, async step => {
        this._setRows(null);
        const isShown = await this._show(step, job);
        return isShown && (await this._arrange(job, flow, pane))
          ? { ...this._size(), rows: this._rows }
          : null;
      });
      if (best === null) {
        return false;
      }
      this._setRows(best.result.rows);
      return this._show(best.step, job);
    });
  }

  expand(group: number, recursive = false): Promise<IScene> {
    this._shown.setOpen(group, true, recursive);
    return this._refresh();
  }

  collapse(group: number, recursive = false): Promise<IScene> {
    this._shown.setOpen(group, false, recursive);
    return this._refresh();
  }

  /** Opens whole levels as long as at most `maxBoxes` cards are visible. */
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
    this._shown.hide(canonicalHidden(this.tree, entities));
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
    hidden?: readonly number[],
    rows?: IRowWidth | null
  ): Promise<IScene> {
    if (rows !== undefined && this.direction === 'right') {
      this._setRows(rows);
    }
    if (hidden) {
      this._shown.hide(canonicalHidden(this.tree, hidden));
    }
    const groups = new Uint8Array(this.tree.groupCount);
    for (const group of open) {
      if (group >= 0 && group < groups.length) {
        groups[group] = 1;
      }
    }
    return this._openExactly(groups);
  }

  dispose(): void {
    this._version++;
    // A running layout answers with this one: awaiting itself would never end.
    this._latest = Promise.resolve(this._scene);
    this._engine.dispose();
  }

  layoutCounts(): { computed: number; cached: number } {
    return this._layouts.hierarchy.counts();
  }

  private get _shown() {
    return this._layouts.visibility;
  }

  private _openExactly(open: Uint8Array): Promise<IScene> {
    this._shown.setExactly(open);
    return this._refresh();
  }

  /** Sets another flow; rows are chosen again. */
  private _turn(flow: Flow): void {
    const direction = directionOf(flow);
    if (direction !== this.direction) {
      this._layouts.hierarchy.direction = direction;
      this._shown.invalidateAll();
    }
    this._flow = flow;
    this._setRows(null);
  }

  /** Sets other rows, with the form of cards they were chosen for. */
  private _setRows(rows: IRowWidth | null): void {
    this._rows = rows;
    const compact = rows?.compact === true;
    if (compact !== this._layouts.hierarchy.compact) {
      this._layouts.hierarchy.compact = compact;
      this._shown.invalidateAll();
    }
  }

  /**
   * Lays out and builds the scene. A call overtaken by a later one stops and returns the later one's
   * scene.
   */
  private _refresh(
    work: (job: ILayoutJob) => Promise<boolean> = job => this._lay(job)
  ): Promise<IScene> {
    this._latest = this._run(++this._version, work);
    return this._latest;
  }

  private async _run(
    version: number,
    work: (job: ILayoutJob) => Promise<boolean>
  ): Promise<IScene> {
    const job: ILayoutJob = {
      isCurrent: () => version === this._version,
      progress: share => this.onProgress?.(share)
    };
    if (!(await work(job))) {
      return this._latest;
    }
    this._scene = buildScene(
      this.tree,
      group => this._layouts.hierarchy.layoutOf(group),
      this._layouts.isOpen,
      this.direction,
      version
    );
    return this._scene;
  }

  /** Lays out the outdated levels; rows keep their first items where possible. */
  private async _lay(job: ILayoutJob): Promise<boolean> {
    return (
      (await this._layouts.straight(job)) &&
      this._layouts.inRows(this._rows, true, job)
    );
  }

  private async _show(
    { open, hidden }: IInitialExpansion,
    job: ILayoutJob
  ): Promise<boolean> {
    if (!job.isCurrent()) {
      return false;
    }
    this._shown.hide(hidden);
    this._shown.setExactly(open);
    return this._lay(job);
  }

  /**
   * Chooses rows for the pane and lays out in them, with compact cards if there are too many full ones.
   */
  private async _arrange(
    job: ILayoutJob,
    flow: 'auto' | 'wrapped',
    pane: IPane
  ): Promise<boolean> {
    this._setRows(null);
    if (!(await this._choose(job, flow, pane))) {
      return false;
    }
    const { rows } = this;
    const zoom = fitZoom(this._size(), pane);
    if (
      !rows ||
      zoom >= MIN_READABLE_ZOOM ||
      this._layouts.count() > MAX_COMPACT_BOXES
    ) {
      return true;
    }
    this._setRows({ ...rows, compact: true });
    if (!(await this._choose(job, flow, pane))) {
      return false;
    }
    if (fitZoom(this._size(), pane) >= zoom * COMPACT_GAIN) {
      return true;
    }
    this._setRows(rows);
    return this._lay(job);
  }

  /** Chooses rows for the current form of cards. */
  private async _choose(
    job: ILayoutJob,
    flow: 'auto' | 'wrapped',
    pane: IPane
  ): Promise<boolean> {
    if (!(await this._layouts.straight(job))) {
      return false;
    }
    const { compact } = this._layouts.hierarchy;
    const rows = await bestRows(this._layouts.arrangeable(job), pane, flow);
    if (!job.isCurrent()) {
      return false;
    }
    this._rows = rows && compact ? { ...rows, compact } : rows;
    return this._layouts.inRows(rows, false, job);
  }

  private _size(): { width: number; height: number } {
    const root = this._layouts.hierarchy.layoutOf(-1);
    return { width: root?.along ?? 0, height: root?.across ?? 0 };
  }

  private readonly _engine: ILayoutEngine;
  private readonly _layouts: LevelLayouts;
  private _rows: IRowWidth | null = null;
  private _scene: IScene;
  private _version = 0;
  private _latest: Promise<IScene>;
}

/**
 * A view of the tree with all groups closed and nothing laid out; call `openInitial` or `restore`.
 * Without an engine, layouts run on this thread.
 */
export function createGraphView(
  tree: IGroupTree,
  sizer: ISizer,
  engine: ILayoutEngine = new InlineEngine(),
  flow: Flow = 'right'
): IInstrumentedGraphView {
  return new GraphView(tree, sizer, engine, flow);
}
