/**
 * When to show a tooltip: after a rest on a box, almost at once on the next one, never while the graph
 * moves.
 */

/** Milliseconds of rest before the first tooltip. */
export const HOVER_MS = 500;
/** The same for the next box. */
export const NEXT_HOVER_MS = 80;
/** Milliseconds after a tooltip during which another box counts as the next one. */
const LINGER_MS = 300;

export class HoverDelay {
  private _target = -1;
  private _shown = false;
  private _dismissed = false;
  private _delay = HOVER_MS;
  private _hiddenAt = -Infinity;
  private _timer: ReturnType<typeof setTimeout> | undefined;

  /**
   * `tell` receives the box that was rested on, or -1 to hide its tooltip. It returns whether there is a
   * tooltip: the pointer may have left the box while the graph moved.
   */
  constructor(private readonly _notify: (box: number) => boolean) {}

  /** Sets the box under the pointer or the keyboard focus; -1 for none. */
  to(box: number): void {
    if (box !== this._target) {
      this._hide();
      this._target = box;
      this._dismissed = false;
      this._delay =
        performance.now() - this._hiddenAt < LINGER_MS
          ? NEXT_HOVER_MS
          : HOVER_MS;
      this._wait();
    }
  }

  /** The pointer moves on the box: restarts the delay unless a tooltip is shown. */
  again(): void {
    if (!this._shown) {
      this._wait();
    }
  }

  /** The pointer is on a part of the box without a tooltip. */
  leave(): void {
    this._hide();
  }

  /** The graph moves under the pointer. */
  moved(): void {
    this._hide();
    this._delay = HOVER_MS;
    this._wait();
  }

  /** Hides the tooltip until another box is the target. */
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
      this._hiddenAt = performance.now();
      this._notify(-1);
    }
  }

  private _wait(): void {
    clearTimeout(this._timer);
    if (this._target >= 0 && !this._dismissed) {
      this._timer = setTimeout(() => {
        this._shown = this._notify(this._target);
      }, this._delay);
    }
  }
}
