/** When a tip is shown: after a rest on a box, at once on the next one, never while the picture moves. */

/** Milliseconds of rest before the first tip. */
export const REST = 500;
/** The same from one box to the next. */
export const NEXT = 80;
/** Milliseconds after a tip in which another box is still the next one. */
const LINGER = 300;

export class Rest {
  private target = -1;
  private shown = false;
  private dismissed = false;
  private delay = REST;
  private gone = -Infinity;
  private timer: ReturnType<typeof setTimeout> | undefined;

  /**
   * `tell` gets the box that has been rested on, -1 when its tip goes away. It returns whether there is
   * a tip: a pointer may have left the box while the picture moved.
   */
  constructor(private readonly tell: (box: number) => boolean) {}

  /** The pointer or the ring of the keyboard is on this box, -1 = on none. */
  to(box: number): void {
    if (box !== this.target) {
      this.hide();
      this.target = box;
      this.dismissed = false;
      this.delay = performance.now() - this.gone < LINGER ? NEXT : REST;
      this.wait();
    }
  }

  /** Where there is no tip, waits from now on: the pointer moves on the box. */
  again(): void {
    if (!this.shown) {
      this.wait();
    }
  }

  /** The pointer is on a part of the box that has no tip. */
  leave(): void {
    this.hide();
  }

  /** The picture moves under the box. */
  moved(): void {
    this.hide();
    this.delay = REST;
    this.wait();
  }

  /** No tip until it is about another box. */
  dismiss(): void {
    this.hide();
    this.dismissed = true;
  }

  /** Other boxes are drawn. */
  reset(): void {
    this.hide();
    this.target = -1;
  }

  private hide(): void {
    clearTimeout(this.timer);
    if (this.shown) {
      this.shown = false;
      this.gone = performance.now();
      this.tell(-1);
    }
  }

  private wait(): void {
    clearTimeout(this.timer);
    if (this.target >= 0 && !this.dismissed) {
      this.timer = setTimeout(() => {
        this.shown = this.tell(this.target);
      }, this.delay);
    }
  }
}
