/** A page may hold many widgets: only some of them are alive at a time, the others are put to rest. */

/** Something that can give up its picture and draw it again. */
export interface IRestable {
  /** False while it is looked at or used. */
  readonly mayRest: boolean;
  rest(): void;
}

export class Shelf {
  /** The one looked at last is the last. */
  private readonly _alive: IRestable[] = [];

  constructor(private readonly _most: number) {}

  get size(): number {
    return this._alive.length;
  }

  /** It is looked at now; those looked at longest ago make room. */
  use(view: IRestable): void {
    this.drop(view);
    this._alive.push(view);
    let extra = this._alive.length - this._most;
    for (const other of this._alive.slice(0, -1)) {
      if (extra > 0 && other.mayRest) {
        this.drop(other);
        other.rest();
        extra--;
      }
    }
  }

  drop(view: IRestable): void {
    const at = this._alive.indexOf(view);
    if (at >= 0) {
      this._alive.splice(at, 1);
    }
  }
}
