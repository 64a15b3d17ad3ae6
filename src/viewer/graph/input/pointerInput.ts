/** Translates mouse, pen, touch and wheel input on the surface into a few simple events. */
import type { IPoint } from '../geometry/camera';

export interface IPointerListener {
  pan(dx: number, dy: number): void;
  /** Multiplies the zoom around a point of the host. */
  zoomAt(point: IPoint, factor: number): void;
  /** A wheel event that may be left to the page; returns true if handled. */
  wheelPan(dx: number, dy: number): boolean;
  hover(point: IPoint | null): void;
  click(point: IPoint, event: MouseEvent): void;
  doubleClick(point: IPoint, event: MouseEvent): void;
  menu(point: IPoint, event: MouseEvent): void;
  /** The marquee while dragging with Ctrl or Shift; null when it ends. */
  marquee(from: IPoint, to: IPoint | null): void;
  marqueeEnd(from: IPoint, to: IPoint): void;
  /** The end of a drag with Shift, which selects the boxes in the area. */
  areaDone(from: IPoint, to: IPoint): void;
}

/** Maximum movement in pixels during a click; larger for touch. */
const MOUSE_SLOP = 4;
const TOUCH_SLOP = 10;
const WHEEL_LINE = 16;
/** Milliseconds after which a touch opens the menu. */
const LONG_PRESS_MS = 500;
/** Maximum milliseconds and pixels between the taps of a double tap. */
const DOUBLE_TAP_MS = 320;
const TAP_REACH = 28;

type Gesture = 'none' | 'press' | 'pan' | 'band' | 'area' | 'pinch' | 'held';

export class PointerInput {
  private readonly _abort = new AbortController();
  private readonly _down = new Map<number, IPoint>();
  private _gesture: Gesture = 'none';
  private _start: IPoint = { x: 0, y: 0 };
  private _last: IPoint = { x: 0, y: 0 };
  private _spread = 0;
  private _moved = false;
  private _wasHeld = false;
  private _hold: ReturnType<typeof setTimeout> | null = null;
  private _tap: { point: IPoint; time: number } | null = null;
  /** True if the last press was a touch, for which double taps and long presses are handled here. */
  private _byTouch = false;

  constructor(
    private readonly _host: HTMLElement,
    private readonly _sink: IPointerListener,
    private readonly _wheelZooms: () => boolean
  ) {
    const listen = <K extends keyof HTMLElementEventMap>(
      type: K,
      handler: (event: HTMLElementEventMap[K]) => void,
      passive = true
    ): void =>
      _host.addEventListener(type, handler, {
        signal: this._abort.signal,
        passive
      });
    listen('pointerdown', e => this._pointerDown(e));
    listen('pointermove', e => this._pointerMove(e));
    listen('pointerup', e => this._pointerUp(e));
    listen('pointercancel', e => this._pointerUp(e));
    listen('pointerleave', () => this._gesture === 'none' && _sink.hover(null));
    listen(
      'dblclick',
      e => !this._byTouch && _sink.doubleClick(this._at(e), e)
    );
    listen('contextmenu', e => this._contextMenu(e), false);
    listen('touchend', e => this._touchEnd(e), false);
    listen('wheel', e => this._wheel(e), false);
  }

  /** True while the view is being dragged, so that hovering can be suspended. */
  get hasGesture(): boolean {
    return (
      this._gesture === 'pan' ||
      this._gesture === 'pinch' ||
      this._gesture === 'band' ||
      this._gesture === 'area'
    );
  }

  dispose(): void {
    this._endGesture();
    this._abort.abort();
  }

  /** Some browsers turn a long press into a secondary click; others leave it to the page. */
  private _contextMenu(event: MouseEvent): void {
    if (this._gesture === 'held') {
      event.preventDefault();
      return;
    }
    this._endGesture();
    if (this._byTouch && this._gesture === 'press') {
      this._gesture = 'held';
    }
    this._sink.menu(this._at(event), event);
  }

  /**
   * Browsers derive a mouse press from a released touch unless it is prevented; it would take the focus
   * from the menu that a long press has opened.
   */
  private _touchEnd(event: TouchEvent): void {
    if (this._wasHeld) {
      this._wasHeld = false;
      event.preventDefault();
    }
  }

  private _endGesture(): void {
    if (this._hold !== null) {
      clearTimeout(this._hold);
      this._hold = null;
    }
  }

  private _startHold(event: PointerEvent): void {
    this._endGesture();
    this._hold = setTimeout(() => {
      this._hold = null;
      if (this._gesture === 'press' && !this._moved) {
        this._gesture = 'held';
        this._sink.menu(this._at(event), event);
      }
    }, LONG_PRESS_MS);
  }

  private _at(event: MouseEvent): IPoint {
    const r = this._host.getBoundingClientRect();
    return { x: event.clientX - r.left, y: event.clientY - r.top };
  }

  private _pointerDown(event: PointerEvent): void {
    if (event.button > 1) {
      return;
    }
    const point = this._at(event);
    this._down.set(event.pointerId, point);
    this._last = point;
    this._byTouch = event.pointerType === 'touch';
    if (this._down.size === 2) {
      this._endGesture();
      this._gesture = 'pinch';
      this._spread = this._pinch().spread;
      this._last = this._pinch().middle;
      return;
    }
    this._start = point;
    this._moved = false;
    const band = event.ctrlKey || event.metaKey ? 'band' : 'area';
    const modified = event.ctrlKey || event.metaKey || event.shiftKey;
    this._gesture = modified && event.button === 0 ? band : 'press';
    if (this._byTouch) {
      this._startHold(event);
    }
  }

  private _pointerMove(event: PointerEvent): void {
    const point = this._at(event);
    if (!this._down.has(event.pointerId)) {
      if (this._gesture === 'none') {
        this._sink.hover(point);
      }
      return;
    }
    this._down.set(event.pointerId, point);
    const slop = event.pointerType === 'touch' ? TOUCH_SLOP : MOUSE_SLOP;
    if (
      !this._moved &&
      Math.hypot(point.x - this._start.x, point.y - this._start.y) > slop
    ) {
      this._moved = true;
      this._endGesture();
      // Not earlier: a captured pointer would take clicks away from the elements.
      this._host.setPointerCapture?.(event.pointerId);
    }
    switch (this._gesture) {
      case 'pinch':
        return this._movePinch();
      case 'press':
        if (!this._moved) {
          return;
        }
        this._gesture = 'pan';
        this._sink.hover(null);
        break;
      case 'band':
      case 'area':
        if (this._moved) {
          this._sink.marquee(this._start, point);
        }
        return;
    }
    if (this._gesture === 'pan') {
      this._sink.pan(point.x - this._last.x, point.y - this._last.y);
      this._last = point;
    }
  }

  private _pointerUp(event: PointerEvent): void {
    if (!this._down.delete(event.pointerId)) {
      return;
    }
    const point = this._at(event);
    const gesture = this._gesture;
    this._endGesture();
    if (gesture === 'pinch') {
      // The remaining finger continues to pan.
      const remaining = [...this._down.values()][0];
      this._gesture = remaining ? 'pan' : 'none';
      this._last = remaining ?? this._last;
      return;
    }
    this._gesture = 'none';
    this._wasHeld = gesture === 'held';
    const cancelled = event.type === 'pointercancel';
    if (gesture === 'band' || gesture === 'area') {
      this._sink.marquee(this._start, null);
      if (this._moved && !cancelled) {
        this._sink[gesture === 'band' ? 'marqueeEnd' : 'areaDone'](
          this._start,
          point
        );
        return;
      }
    }
    if (
      !this._moved &&
      !cancelled &&
      event.button === 0 &&
      gesture !== 'held'
    ) {
      this._click(point, event);
    }
  }

  /** A click, or possibly the second tap of a double tap. */
  private _click(point: IPoint, event: PointerEvent): void {
    const before = this._tap;
    const second =
      this._byTouch &&
      before !== null &&
      event.timeStamp - before.time < DOUBLE_TAP_MS &&
      Math.hypot(point.x - before.point.x, point.y - before.point.y) <
        TAP_REACH;
    this._tap = second ? null : { point, time: event.timeStamp };
    if (second) {
      this._sink.doubleClick(point, event);
    } else {
      this._sink.click(point, event);
    }
  }

  private _pinch(): { middle: IPoint; spread: number } {
    const [a, b] = [...this._down.values()];
    return {
      middle: { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 },
      spread: Math.max(1, Math.hypot(a.x - b.x, a.y - b.y))
    };
  }

  private _movePinch(): void {
    const { middle, spread } = this._pinch();
    this._moved = true;
    this._sink.pan(middle.x - this._last.x, middle.y - this._last.y);
    this._sink.zoomAt(middle, spread / this._spread);
    this._last = middle;
    this._spread = spread;
  }

  private _wheel(event: WheelEvent): void {
    const unit =
      event.deltaMode === 1
        ? WHEEL_LINE
        : event.deltaMode === 2
          ? this._host.clientHeight
          : 1;
    const dx = event.deltaX * unit;
    const dy = event.deltaY * unit;
    // Browsers report a pinch on a trackpad as wheel events with Ctrl.
    if (
      event.ctrlKey ||
      event.metaKey ||
      (this._wheelZooms() && !event.shiftKey)
    ) {
      event.preventDefault();
      this._sink.zoomAt(this._at(event), wheelFactor(dy));
      return;
    }
    const sideways = event.shiftKey && dx === 0;
    if (this._sink.wheelPan(sideways ? -dy : -dx, sideways ? 0 : -dy)) {
      event.preventDefault();
    }
  }
}

/**
 * Zoom factor of a wheel event: about 20 % per notch of a mouse, smooth for the small deltas of a
 * trackpad.
 */
export function wheelFactor(delta: number): number {
  return Math.exp(-0.2 * Math.tanh(delta / 25));
}
