/** Tracks open groups, hidden entities, and the levels that must be laid out again. */

import { selfAndAncestors } from '../tree/hiddenEntities';
import { soloPart, partOf, partsOf, withPart } from '../tree/repeatParts';
import type { IGroupTree } from '../tree/treeTypes';

/** Maximum number of instances of a repeat to show at once. */
const MAX_OPEN_PARTS = 40;

export class VisibilityState {
  constructor(private readonly _tree: IGroupTree) {
    this._open = new Uint8Array(_tree.groupCount);
    this._dirty = new Uint8Array(_tree.groupCount + 1).fill(1);
  }

  get hidden(): ReadonlySet<number> {
    return this._hidden;
  }

  isOpen(group: number): boolean {
    return this._open[group] === 1;
  }

  /** The open groups; not affected by later calls. */
  openSnapshot(): Uint8Array {
    return this._open.slice();
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

  /** Drawn levels that must be laid out again, innermost first; -1 is the root. */
  levelsToLayOut(): number[] {
    const drawnGroups = this._drawnGroups();
    const groups: number[] = [];
    for (let group = this._tree.groupCount - 1; group >= -1; group--) {
      const isDrawn = group < 0 || (this._open[group] && drawnGroups[group]);
      if (isDrawn && this._dirty[group + 1]) {
        groups.push(group);
      }
    }
    return groups;
  }

  markLaidOut(group: number): void {
    this._dirty[group + 1] = 0;
  }

  /** Marks everything to be laid out again. */
  invalidateAll(): void {
    this._dirty.fill(1);
  }

  /**
   * Opens or closes a group, or also everything below; a closed repeat with very many instances opens
   * with one.
   */
  setOpen(group: number, open: boolean, recursive: boolean): void {
    if (open && !recursive) {
      this._hideInstances(group, 0);
    }
    this._set(group, open ? 1 : 0);
    if (recursive) {
      this._below(group).forEach(inner => this._set(inner, open ? 1 : 0));
    }
  }

  /** Opens exactly these groups. */
  setExactly(groups: Uint8Array): void {
    groups.forEach((open, group) => this._set(group, open));
  }

  /** Opens the outer `depths` levels of groups; leaves deeper ones unchanged. */
  openDepths(depths: number): void {
    const { groupCount, groupDepth } = this._tree;
    for (let group = 0; group < groupCount; group++) {
      if (groupDepth[group] < depths) {
        this._set(group, 1);
      }
    }
  }

  /** Hides exactly these entities. */
  hide(entities: readonly number[]): void {
    const before = this._hidden;
    const after = new Set(entities);
    for (const entity of new Set([...before, ...after])) {
      if (before.has(entity) !== after.has(entity)) {
        this._invalidate(this._parentOf(entity));
      }
    }
    this._hidden = after;
  }

  /** Opens all groups around an entity, and shows it if it was hidden. */
  reveal(entity: number): void {
    const { model, groupParent, groupMain, children } = this._tree;
    let group = this._parentOf(entity);
    let below = entity;
    if (group >= 0 && groupMain[group] === entity) {
      // The card belongs to the group.
      below = model.nodeCount + group;
      group = groupParent[group];
    }
    for (; group >= 0; group = groupParent[group]) {
      this._hideInstances(group, children[group + 1].indexOf(below));
      this._set(group, 1);
      below = model.nodeCount + group;
    }
    this._unhide(entity);
  }

  /** Marks the levels of cards whose size has changed, and of the panels of open groups. */
  invalidateSizes(entities: readonly number[]): void {
    const { nodeCount } = this._tree.model;
    for (const entity of entities) {
      this._invalidate(this._parentOf(entity));
      const group = entity - nodeCount;
      if (group >= 0 && this._open[group]) {
        // Its panel is as wide as its card.
        this._invalidate(group);
      }
    }
  }

  /** Whether all ancestors are open, by group; parents come first. */
  private _drawnGroups(): Uint8Array {
    const { groupParent, groupCount } = this._tree;
    const isDrawn = new Uint8Array(groupCount);
    for (let group = 0; group < groupCount; group++) {
      const parent = groupParent[group];
      isDrawn[group] =
        parent < 0 || (isDrawn[parent] && this._open[parent]) ? 1 : 0;
    }
    return isDrawn;
  }

  /** The group around an entity; -1 is the root. */
  private _parentOf(entity: number): number {
    const { model, nodeParent, groupParent } = this._tree;
    const group = entity - model.nodeCount;
    return group < 0 ? nodeParent[entity] : groupParent[group];
  }

  /** Groups below a group: in pre-order, their ids follow it. */
  private _below(group: number): number[] {
    const { groupDepth, groupCount } = this._tree;
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

  /** Opens or closes a group and marks what must be laid out again. */
  private _set(group: number, open: number): void {
    if (group < 0 || group >= this._open.length || this._open[group] === open) {
      return;
    }
    this._open[group] = open;
    this._invalidate(this._tree.groupParent[group]);
  }

  /** Marks a level and all its ancestors to be laid out again; -1 is the root. */
  private _invalidate(group: number): void {
    const { groupParent } = this._tree;
    let above = group;
    while (above >= 0 && !this._dirty[above + 1]) {
      this._dirty[above + 1] = 1;
      above = groupParent[above];
    }
    if (above < 0) {
      this._dirty[0] = 1;
    }
  }

  /** A closed repeat with very many instances opens with one: all of them would be too many. */
  private _hideInstances(group: number, index: number): void {
    const { groupIsRepeat, groupCount } = this._tree;
    if (group < 0 || group >= groupCount || !groupIsRepeat[group]) {
      return;
    }
    const hidden = this._hidden;
    const instances = partsOf(this._tree, group);
    const noneHidden = !instances.some(instance => hidden.has(instance));
    if (!this._open[group] && instances.length > MAX_OPEN_PARTS && noneHidden) {
      this.hide(withPart(this._tree, hidden, { repeatGroup: group, index }));
    }
  }

  /**
   * Shows the entity with the groups around it; other hidden entities there stay hidden. A repeat that
   * showed a single instance shows the one that contains the entity instead.
   */
  private _unhide(entity: number): void {
    const hidden = this._hidden;
    const chain = hidden.size > 0 ? selfAndAncestors(this._tree, entity) : [];
    if (!chain.some(ancestor => hidden.has(ancestor))) {
      return;
    }
    const revealed = new Set(chain);
    let next = [...hidden].filter(entity => !revealed.has(entity));
    for (const ancestor of chain) {
      const part = hidden.has(ancestor) ? partOf(this._tree, ancestor) : null;
      if (part) {
        const solo = soloPart(this._tree, part.repeatGroup, e => hidden.has(e));
        next = solo >= 0 ? withPart(this._tree, next, part) : next;
      }
    }
    this.hide(next);
  }

  private readonly _open: Uint8Array;
  /** By group + 1: the layout is missing or outdated. */
  private readonly _dirty: Uint8Array;
  private _hidden: ReadonlySet<number> = new Set();
}
