/** When a tip is shown: after a rest on a box, at once on the next one, never while the picture moves. */

/** Milliseconds of rest before the first tip. */
export const HOVER_MS = 500;
/** The same from one box to the next. */
export const NEXT_HOVER_MS = 80;
/** Milliseconds after a tip in which another box is still the next one. */
const LINGER_MS = 300;

export class HoverDelay {
  private _target = -1;
  private _shown = false;
  private _dismissed = false;
  private _delay = HOVER_MS;
  private _gone = -Infinity;
  private _timer: ReturnType<typeof setTimeout> | undefined;

  /**
   * `tell` gets the box that has been rested on, -1 when its tip goes away. It returns whether there is
   * a tip: a pointer may have left the box while the picture moved.
   */
  constructor(private readonly _tell: (box: number) => boolean) {}

  /** The pointer or the ring of the keyboard is on this box, -1 = on none. */
  to(box: number): void {
    if (box !== this._target) {
      this._hide();
      this._target = box;
      this._dismissed = false;
      this._delay =
        performance.now() - this._gone < LINGER_MS ? NEXT_HOVER_MS : HOVER_MS;
      this._wait();
    }
  }

  /** Where there is no tip, waits from now on: the pointer moves on the box. */
  again(): void {
    if (!this._shown) {
      this._wait();
    }
  }

  /** The pointer is on a part of the box that has no tip. */
  leave(): void {
    this._hide();
  }

  /** The picture moves under the box. */
  moved(): void {
    this._hide();
    this._delay = HOVER_MS;
    this._wait();
  }

  /** No tip until it is about another box. */
  dismiss(): void {
    this._hide();
    this._dismissed = true;
  }

  /** Other boxes are drawn. */
  reset(): void {
    this._hide();
    this._target = -1;
  }

  private _hide(): void {
    clearTimeout(this._timer);
    if (this._shown) {
      this._shown = false;
      this._gone = performance.now();
      this._tell(-1);
    }
  }

  private _wait(): void {
    clearTimeout(this._timer);
    if (this._target >= 0 && !this._dismissed) {
      this._timer = setTimeout(() => {
        this._shown = this._tell(this._target);
      }, this._delay);
    }
  }
}
