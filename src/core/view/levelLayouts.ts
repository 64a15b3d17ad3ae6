/** Lays out open groups: every level in one row, then those with several rows. */

import type { IArrangeable, IRowTrial } from './rowArrangement';
import type { ILayoutEngine } from '../layout/engine/layoutEngine';
import { CompoundLayout } from '../layout/compound/compoundLayout';
import { rowWidthsFor } from '../layout/compound/rowWidths';
import { asRowedResult } from '../layout/rows/rowedResult';
import type { IRowedResult } from '../layout/rows/rowedResult';
import { VisibilityState } from './visibilityState';
import type { FlowDirection, IRowWidth, ISizer } from '../types';
import type { IGroupTree } from '../tree/treeTypes';

/** Milliseconds that a layout may block the page. */
const MAX_BLOCKING_MS = 40;

const yieldToEventLoop = () =>
  new Promise<void>(resolve => setTimeout(resolve));

/** A call of a view; it ends early when a later one arrives. */
export interface ILayoutJob {
  isCurrent(): boolean;
  /** Receives the share that is done. */
  progress(share: number): void;
}

/** Number of rows without nodes and blocks, which are the first items of a level. */
function rowsWithoutNodes(
  { breaks, rank }: IRowedResult,
  children: number
): number {
  const rows = new Uint8Array(breaks.length + 1);
  for (let item = 0; item < children; item++) {
    const next = breaks.findIndex(column => column > rank[item]);
    rows[next < 0 ? breaks.length : next] = 1;
  }
  return rows.filter(filled => filled === 0).length;
}

export class LevelLayouts {
  constructor(
    tree: IGroupTree,
    sizer: ISizer,
    engine: ILayoutEngine,
    direction: FlowDirection
  ) {
    this.tree = tree;
    this.hierarchy = new CompoundLayout(tree, sizer, engine);
    this.hierarchy.direction = direction;
    this.visibility = new VisibilityState(tree);
    this._open = this.visibility.openSnapshot();
  }

  tree: IGroupTree;
  readonly hierarchy: CompoundLayout;
  readonly visibility: VisibilityState;

  /** Whether a group was open in the last complete layout. */
  isOpen = (group: number): boolean => this._open[group] === 1;

  /** Lays out the outdated levels in one row each, innermost first. Returns false if interrupted. */
  async straight(job: ILayoutJob): Promise<boolean> {
    const { visibility, hierarchy } = this;
    hierarchy.hidden = visibility.hidden;
    this._open = visibility.openSnapshot();
    const stale = visibility.levelsToLayOut();
    this._sliceStart = performance.now();
    for (const [index, group] of stale.entries()) {
      if (!(await this._yieldIfDue(job, index / stale.length))) {
        return false;
      }
      let layout = hierarchy.layOutLevel(group, this.isOpen);
      if (layout instanceof Promise) {
        layout = await layout;
        if (!job.isCurrent()) {
          return false;
        }
      }
      hierarchy.storeLayout(group, layout);
      visibility.markLaidOut(group);
    }
    return job.isCurrent();
  }

  /**
   * Wraps everything wider than the rows; null wraps nothing. With `keep`, rows keep their first items
   * where possible. Returns false if interrupted.
   */
  async inRows(
    rows: IRowWidth | null,
    keep: boolean,
    job: ILayoutJob
  ): Promise<boolean> {
    const { hierarchy } = this;
    const widths = this._rooms(rows);
    hierarchy.storeRows(new Set(widths.keys()));
    // Innermost first.
    for (const [group, width] of [...widths].reverse()) {
      if (!(await this._yieldIfDue(job, null))) {
        return false;
      }
      const placing = hierarchy.layOutRows(group, this.isOpen, {
        room: width,
        keep
      });
      if (placing) {
        await placing;
        if (!job.isCurrent()) {
          return false;
        }
      }
    }
    return job.isCurrent();
  }

  /** The interface for choosing rows: trial layouts are made in place. */
  arrangeable(job: ILayoutJob): IArrangeable {
    const root = this.hierarchy.straight(-1);
    const tried = new Set<string>();
    return {
      boxes: this.count(),
      straight: { width: root?.along ?? 0, height: root?.across ?? 0 },
      isCurrent: () => job.isCurrent(),
      inRows: async (rows: IRowWidth): Promise<IRowTrial | null> => {
        const widths = [...this._rooms(rows)];
        const key = widths.map(([group, width]) => `${group}:${width}`).join();
        if (tried.has(key) || !(await this.inRows(rows, false, job))) {
          return null;
        }
        tried.add(key);
        return this._tried(widths.map(([group]) => group));
      }
    };
  }

  private _rooms(rows: IRowWidth | null): ReadonlyMap<number, number> {
    const { tree, isOpen } = this;
    const straight = (group: number) => this.hierarchy.straight(group);
    return rows && this.hierarchy.direction === 'right'
      ? rowWidthsFor({ tree, isOpen, straight }, rows)
      : new Map<number, number>();
  }

  private _tried(groups: readonly number[]): IRowTrial {
    const root = this.hierarchy.layoutOf(-1);
    let [breaks, returning, portRows] = [0, 0, 0];
    for (const group of groups) {
      const layout = this.hierarchy.layoutOf(group);
      const rows = layout && asRowedResult(layout.geometry);
      if (rows) {
        breaks += rows.breaks.length;
        returning += rows.returning;
        portRows += rowsWithoutNodes(rows, layout.level.children.length);
      }
    }
    return {
      width: root?.along ?? 0,
      height: root?.across ?? 0,
      cuts: breaks > 0 ? Math.max(0, returning / breaks - 1) : 0,
      portRows
    };
  }

  /** Number of boxes, including collapsed groups and pills. */
  count(): number {
    const { groupCount } = this.tree;
    const { groupParent } = this.tree;
    const isDrawn = new Uint8Array(groupCount);
    let count = this.hierarchy.straight(-1)?.level.itemCount ?? 0;
    for (let group = 0; group < groupCount; group++) {
      const parent = groupParent[group];
      if (this.isOpen(group) && (parent < 0 || isDrawn[parent])) {
        isDrawn[group] = 1;
        count += this.hierarchy.straight(group)?.level.itemCount ?? 0;
      }
    }
    return count;
  }

  /** Yields to the event loop if much time has passed; returns false if interrupted. */
  private async _yieldIfDue(
    job: ILayoutJob,
    share: number | null
  ): Promise<boolean> {
    if (performance.now() - this._sliceStart > MAX_BLOCKING_MS) {
      if (share !== null) {
        job.progress(share);
      }
      await yieldToEventLoop();
      if (!job.isCurrent()) {
        return false;
      }
      this._sliceStart = performance.now();
    }
    return true;
  }

  private _open: Uint8Array;
  private _sliceStart = 0;
}
