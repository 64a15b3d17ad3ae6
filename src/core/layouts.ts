/** Lays out what is open: every level in one row, then those in rows that have several. */

import type { IArrangeable, ITried } from './arrange';
import type { ILayoutEngine } from './layout/engine';
import { Hierarchy } from './layout/hierarchy';
import { roomsFor } from './layout/rows/rooms';
import { rowed } from './layout/rows/result';
import type { IRowedResult } from './layout/rows/result';
import { Shown } from './shown';
import type { IGroupTree } from './tree';
import type { FlowDirection, IRowWidth, ISizer } from './types';

/** So long a layout may keep the page from answering, in milliseconds. */
const BREATH = 40;

const turn = () => new Promise<void>(resolve => setTimeout(resolve));

/** One call of a view: it ends early when a later one comes. */
export interface IJob {
  isCurrent(): boolean;
  /** Told the share that is done. */
  progress(share: number): void;
}

/** Rows in which no node and no block stands; those are the first items of a level. */
function loneRows({ breaks, rank }: IRowedResult, children: number): number {
  const rows = new Uint8Array(breaks.length + 1);
  for (let item = 0; item < children; item++) {
    const next = breaks.findIndex(column => column > rank[item]);
    rows[next < 0 ? breaks.length : next] = 1;
  }
  return rows.filter(filled => filled === 0).length;
}

export class Layouts {
  constructor(
    tree: IGroupTree,
    sizer: ISizer,
    engine: ILayoutEngine,
    direction: FlowDirection
  ) {
    this.tree = tree;
    this.hierarchy = new Hierarchy(tree, sizer, engine);
    this.hierarchy.direction = direction;
    this.shown = new Shown(tree);
    this._open = this.shown.copy();
  }

  tree: IGroupTree;
  readonly hierarchy: Hierarchy;
  readonly shown: Shown;

  /** Whether a group was open when all was laid out last. */
  isOpen = (group: number): boolean => this._open[group] === 1;

  /** Lays out what is dirty, innermost first, in one row each. False: something came in between. */
  async straight(job: IJob): Promise<boolean> {
    const { shown, hierarchy } = this;
    hierarchy.hidden = shown.hidden;
    this._open = shown.copy();
    const stale = shown.stale();
    this._breath = performance.now();
    for (const [at, group] of stale.entries()) {
      if (!(await this._breathe(job, at / stale.length))) {
        return false;
      }
      let placed = hierarchy.place(group, this.isOpen);
      if (placed instanceof Promise) {
        placed = await placed;
        if (!job.isCurrent()) {
          return false;
        }
      }
      hierarchy.keep(group, placed);
      shown.settle(group);
    }
    return job.isCurrent();
  }

  /**
   * Sets in rows what is wider than they are, null: nothing. `keep`: rows begin where they began, as far
   * as they can. False: something came in between.
   */
  async inRows(
    rows: IRowWidth | null,
    keep: boolean,
    job: IJob
  ): Promise<boolean> {
    const { hierarchy } = this;
    const rooms = this._rooms(rows);
    hierarchy.keepRows(new Set(rooms.keys()));
    // Innermost first.
    for (const [group, room] of [...rooms].reverse()) {
      if (!(await this._breathe(job, null))) {
        return false;
      }
      const placing = hierarchy.placeRows(group, this.isOpen, { room, keep });
      if (placing) {
        await placing;
        if (!job.isCurrent()) {
          return false;
        }
      }
    }
    return job.isCurrent();
  }

  /** What can be arranged: tries are laid out in place. */
  arrangeable(job: IJob): IArrangeable {
    const root = this.hierarchy.straight(-1);
    const seen = new Set<string>();
    return {
      boxes: this.count(),
      straight: { width: root?.along ?? 0, height: root?.across ?? 0 },
      isCurrent: () => job.isCurrent(),
      inRows: async (rows: IRowWidth): Promise<ITried | null> => {
        const rooms = [...this._rooms(rows)];
        const key = rooms.map(([group, room]) => `${group}:${room}`).join();
        if (seen.has(key) || !(await this.inRows(rows, false, job))) {
          return null;
        }
        seen.add(key);
        return this._tried(rooms.map(([group]) => group));
      }
    };
  }

  private _rooms(rows: IRowWidth | null): ReadonlyMap<number, number> {
    const { tree, isOpen } = this;
    const straight = (group: number) => this.hierarchy.straight(group);
    return rows && this.hierarchy.direction === 'right'
      ? roomsFor({ tree, isOpen, straight }, rows)
      : new Map<number, number>();
  }

  private _tried(groups: readonly number[]): ITried {
    const root = this.hierarchy.placed(-1);
    let [breaks, torn, lone] = [0, 0, 0];
    for (const group of groups) {
      const placed = this.hierarchy.placed(group);
      const rows = placed && rowed(placed.geometry);
      if (rows) {
        breaks += rows.breaks.length;
        torn += rows.returning;
        lone += loneRows(rows, placed.level.children.length);
      }
    }
    return {
      width: root?.along ?? 0,
      height: root?.across ?? 0,
      tangle: breaks > 0 ? Math.max(0, torn / breaks - 1) : 0,
      lone
    };
  }

  /** Boxes in the picture, closed groups and pills too. */
  count(): number {
    const { groupCount } = this.tree;
    const { groupParent } = this.tree;
    const drawn = new Uint8Array(groupCount);
    let count = this.hierarchy.straight(-1)?.level.itemCount ?? 0;
    for (let group = 0; group < groupCount; group++) {
      const parent = groupParent[group];
      if (this.isOpen(group) && (parent < 0 || drawn[parent])) {
        drawn[group] = 1;
        count += this.hierarchy.straight(group)?.level.itemCount ?? 0;
      }
    }
    return count;
  }

  /** Lets the page answer where much time has passed; false: something came in between. */
  private async _breathe(job: IJob, share: number | null): Promise<boolean> {
    if (performance.now() - this._breath > BREATH) {
      if (share !== null) {
        job.progress(share);
      }
      await turn();
      if (!job.isCurrent()) {
        return false;
      }
      this._breath = performance.now();
    }
    return true;
  }

  private _open: Uint8Array;
  private _breath = 0;
}
