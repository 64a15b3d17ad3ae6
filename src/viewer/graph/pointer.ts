/** Mouse, pen, touch and wheel on the surface, turned into a few plain events. */
import type { IPoint } from './camera';

export interface IPointerSink {
  pan(dx: number, dy: number): void;
  /** Multiplies the zoom about a point of the host. */
  zoomAt(at: IPoint, factor: number): void;
  /** A wheel turn that may be left to the page; true = taken. */
  wheelPan(dx: number, dy: number): boolean;
  hover(at: IPoint | null): void;
  click(at: IPoint, event: MouseEvent): void;
  doubleClick(at: IPoint, event: MouseEvent): void;
  menu(at: IPoint, event: MouseEvent): void;
  /** The rubber band while dragging with Ctrl or Shift, null = let go of. */
  band(from: IPoint, to: IPoint | null): void;
  bandDone(from: IPoint, to: IPoint): void;
  /** The same with Shift: what lies in it is to be selected. */
  areaDone(from: IPoint, to: IPoint): void;
}

/** Pixels a pointer may wander and still click; a finger is less steady. */
const SLOP = 4;
const TOUCH_SLOP = 10;
const WHEEL_LINE = 16;
/** Milliseconds that a finger rests to open the menu. */
const LONG_PRESS = 500;
/** Milliseconds and pixels between the taps of a double tap. */
const DOUBLE_TAP = 320;
const TAP_REACH = 28;

type Gesture = 'none' | 'press' | 'pan' | 'band' | 'area' | 'pinch' | 'held';

export class PointerInput {
  private readonly abort = new AbortController();
  private readonly down = new Map<number, IPoint>();
  private gesture: Gesture = 'none';
  private start: IPoint = { x: 0, y: 0 };
  private last: IPoint = { x: 0, y: 0 };
  private spread = 0;
  private moved = false;
  private wasHeld = false;
  private hold: ReturnType<typeof setTimeout> | null = null;
  private tap: { at: IPoint; time: number } | null = null;
  /** Whether the last press came from a finger, whose double taps and long presses are ours. */
  private byTouch = false;

  constructor(
    private readonly host: HTMLElement,
    private readonly sink: IPointerSink,
    private readonly wheelZooms: () => boolean
  ) {
    const on = <K extends keyof HTMLElementEventMap>(
      type: K,
      handler: (event: HTMLElementEventMap[K]) => void,
      passive = true
    ): void =>
      host.addEventListener(type, handler, {
        signal: this.abort.signal,
        passive
      });
    on('pointerdown', e => this.pointerDown(e));
    on('pointermove', e => this.pointerMove(e));
    on('pointerup', e => this.pointerUp(e));
    on('pointercancel', e => this.pointerUp(e));
    on('pointerleave', () => this.gesture === 'none' && sink.hover(null));
    on('dblclick', e => !this.byTouch && sink.doubleClick(this.at(e), e));
    on('contextmenu', e => this.contextMenu(e), false);
    on('touchend', e => this.touchEnd(e), false);
    on('wheel', e => this.wheel(e), false);
  }

  /** True while the picture is being dragged, so that hovering can rest. */
  get busy(): boolean {
    return (
      this.gesture === 'pan' ||
      this.gesture === 'pinch' ||
      this.gesture === 'band' ||
      this.gesture === 'area'
    );
  }

  dispose(): void {
    this.letGo();
    this.abort.abort();
  }

  /** Some browsers make a long press a secondary click, some leave it to the page. */
  private contextMenu(event: MouseEvent): void {
    if (this.gesture === 'held') {
      event.preventDefault();
      return;
    }
    this.letGo();
    if (this.byTouch && this.gesture === 'press') {
      this.gesture = 'held';
    }
    this.sink.menu(this.at(event), event);
  }

  /**
   * A finger that lifts is a mouse press too, unless it is told otherwise: that would take the focus
   * from the menu which the long press has opened.
   */
  private touchEnd(event: TouchEvent): void {
    if (this.wasHeld) {
      this.wasHeld = false;
      event.preventDefault();
    }
  }

  private letGo(): void {
    if (this.hold !== null) {
      clearTimeout(this.hold);
      this.hold = null;
    }
  }

  private startHold(event: PointerEvent): void {
    this.letGo();
    this.hold = setTimeout(() => {
      this.hold = null;
      if (this.gesture === 'press' && !this.moved) {
        this.gesture = 'held';
        this.sink.menu(this.at(event), event);
      }
    }, LONG_PRESS);
  }

  private at(event: MouseEvent): IPoint {
    const r = this.host.getBoundingClientRect();
    return { x: event.clientX - r.left, y: event.clientY - r.top };
  }

  private pointerDown(event: PointerEvent): void {
    if (event.button > 1) {
      return;
    }
    const at = this.at(event);
    this.down.set(event.pointerId, at);
    this.last = at;
    this.byTouch = event.pointerType === 'touch';
    if (this.down.size === 2) {
      this.letGo();
      this.gesture = 'pinch';
      this.spread = this.pinch().spread;
      this.last = this.pinch().middle;
      return;
    }
    this.start = at;
    this.moved = false;
    const band = event.ctrlKey || event.metaKey ? 'band' : 'area';
    const modified = event.ctrlKey || event.metaKey || event.shiftKey;
    this.gesture = modified && event.button === 0 ? band : 'press';
    if (this.byTouch) {
      this.startHold(event);
    }
  }

  private pointerMove(event: PointerEvent): void {
    const at = this.at(event);
    if (!this.down.has(event.pointerId)) {
      if (this.gesture === 'none') {
        this.sink.hover(at);
      }
      return;
    }
    this.down.set(event.pointerId, at);
    const slop = event.pointerType === 'touch' ? TOUCH_SLOP : SLOP;
    if (
      !this.moved &&
      Math.hypot(at.x - this.start.x, at.y - this.start.y) > slop
    ) {
      this.moved = true;
      this.letGo();
      // Only now: a captured pointer would take clicks away from the elements.
      this.host.setPointerCapture?.(event.pointerId);
    }
    switch (this.gesture) {
      case 'pinch':
        return this.movePinch();
      case 'press':
        if (!this.moved) {
          return;
        }
        this.gesture = 'pan';
        this.sink.hover(null);
        break;
      case 'band':
      case 'area':
        if (this.moved) {
          this.sink.band(this.start, at);
        }
        return;
    }
    if (this.gesture === 'pan') {
      this.sink.pan(at.x - this.last.x, at.y - this.last.y);
      this.last = at;
    }
  }

  private pointerUp(event: PointerEvent): void {
    if (!this.down.delete(event.pointerId)) {
      return;
    }
    const at = this.at(event);
    const gesture = this.gesture;
    this.letGo();
    if (gesture === 'pinch') {
      // The finger that stays goes on panning.
      const rest = [...this.down.values()][0];
      this.gesture = rest ? 'pan' : 'none';
      this.last = rest ?? this.last;
      return;
    }
    this.gesture = 'none';
    this.wasHeld = gesture === 'held';
    const cancelled = event.type === 'pointercancel';
    if (gesture === 'band' || gesture === 'area') {
      this.sink.band(this.start, null);
      if (this.moved && !cancelled) {
        this.sink[gesture === 'band' ? 'bandDone' : 'areaDone'](this.start, at);
        return;
      }
    }
    if (!this.moved && !cancelled && event.button === 0 && gesture !== 'held') {
      this.click(at, event);
    }
  }

  /** A click or, with a finger, perhaps the second tap of two. */
  private click(at: IPoint, event: PointerEvent): void {
    const before = this.tap;
    const second =
      this.byTouch &&
      before !== null &&
      event.timeStamp - before.time < DOUBLE_TAP &&
      Math.hypot(at.x - before.at.x, at.y - before.at.y) < TAP_REACH;
    this.tap = second ? null : { at, time: event.timeStamp };
    if (second) {
      this.sink.doubleClick(at, event);
    } else {
      this.sink.click(at, event);
    }
  }

  private pinch(): { middle: IPoint; spread: number } {
    const [a, b] = [...this.down.values()];
    return {
      middle: { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 },
      spread: Math.max(1, Math.hypot(a.x - b.x, a.y - b.y))
    };
  }

  private movePinch(): void {
    const { middle, spread } = this.pinch();
    this.moved = true;
    this.sink.pan(middle.x - this.last.x, middle.y - this.last.y);
    this.sink.zoomAt(middle, spread / this.spread);
    this.last = middle;
    this.spread = spread;
  }

  private wheel(event: WheelEvent): void {
    const unit =
      event.deltaMode === 1
        ? WHEEL_LINE
        : event.deltaMode === 2
          ? this.host.clientHeight
          : 1;
    const dx = event.deltaX * unit;
    const dy = event.deltaY * unit;
    // Browsers report a trackpad's pinch as a wheel with Ctrl.
    if (
      event.ctrlKey ||
      event.metaKey ||
      (this.wheelZooms() && !event.shiftKey)
    ) {
      event.preventDefault();
      this.sink.zoomAt(this.at(event), wheelFactor(dy));
      return;
    }
    const sideways = event.shiftKey && dx === 0;
    if (this.sink.wheelPan(sideways ? -dy : -dx, sideways ? 0 : -dy)) {
      event.preventDefault();
    }
  }
}

/** Zoom factor of a wheel turn: a notch of a mouse is about 20 %, a trackpad's small turns go smoothly. */
export function wheelFactor(delta: number): number {
  return Math.exp(-0.2 * Math.tanh(delta / 25));
}
