/** A page may hold many widgets: only some of them are alive at a time, the others are put to rest. */

/** Something that can give up its picture and draw it again. */
export interface ISuspendable {
  /** False while it is looked at or used. */
  readonly canSuspend: boolean;
  suspend(): void;
}

export class MountPool {
  /** The one looked at last is the last. */
  private readonly _alive: ISuspendable[] = [];

  constructor(private readonly _most: number) {}

  get size(): number {
    return this._alive.length;
  }

  /** It is looked at now; those looked at longest ago make room. */
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
    const at = this._alive.indexOf(view);
    if (at >= 0) {
      this._alive.splice(at, 1);
    }
  }
}
