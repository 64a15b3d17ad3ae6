/** Limits the number of live viewers in a page with many widgets; the others are suspended. */

/** A view that can release its contents and restore them. */
export interface ISuspendable {
  /** False while it is visible or in use. */
  readonly canSuspend: boolean;
  suspend(): void;
}

export class MountPool {
  /** Ordered by last use, most recent last. */
  private readonly _alive: ISuspendable[] = [];

  constructor(private readonly _most: number) {}

  get size(): number {
    return this._alive.length;
  }

  /** Marks a view as used; suspends the least recently used ones over the limit. */
  activate(view: ISuspendable): void {
    this.release(view);
    this._alive.push(view);
    let extra = this._alive.length - this._most;
    for (const other of this._alive.slice(0, -1)) {
      if (extra > 0 && other.canSuspend) {
        this.release(other);
        other.suspend();
        extra--;
      }
    }
  }

  release(view: ISuspendable): void {
    const index = this._alive.indexOf(view);
    if (index >= 0) {
      this._alive.splice(index, 1);
    }
  }
}
