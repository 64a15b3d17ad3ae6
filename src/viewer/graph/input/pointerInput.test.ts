// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type IPointerListener, PointerInput } from './pointerInput';

const sink = {
  pan: vi.fn(),
  zoomAt: vi.fn(),
  wheelPan: vi.fn(() => true),
  hover: vi.fn(),
  click: vi.fn(),
  doubleClick: vi.fn(),
  menu: vi.fn(),
  marquee: vi.fn(),
  marqueeEnd: vi.fn(),
  areaDone: vi.fn()
} satisfies IPointerListener;

let host: HTMLElement;
let input: PointerInput;
let now = 0;

/** Dispatches a pointer event; jsdom lacks PointerEvent. */
function send(
  type: string,
  x: number,
  y: number,
  more: { id?: number; kind?: string; shiftKey?: boolean; button?: number } = {}
): MouseEvent {
  const { id = 1, kind = 'touch', shiftKey = false, button = 0 } = more;
  const event = new MouseEvent(type, {
    clientX: x,
    clientY: y,
    shiftKey,
    button,
    bubbles: true,
    cancelable: true
  });
  Object.defineProperties(event, {
    pointerId: { value: id },
    pointerType: { value: kind },
    timeStamp: { value: now }
  });
  host.dispatchEvent(event);
  return event;
}

function tap(x: number, y: number): void {
  send('pointerdown', x, y);
  send('pointerup', x, y);
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.clearAllMocks();
  now = 1000;
  host = document.createElement('div');
  input = new PointerInput(host, sink, () => false);
});

afterEach(() => {
  input.dispose();
  vi.useRealTimers();
});

describe('touch', () => {
  test('one finger pans', () => {
    send('pointerdown', 10, 10);
    send('pointermove', 60, 30);
    send('pointermove', 70, 35);
    send('pointerup', 70, 35);
    expect(sink.pan).toHaveBeenLastCalledWith(10, 5);
    expect(sink.click).not.toHaveBeenCalled();
    vi.runAllTimers();
    expect(sink.menu).not.toHaveBeenCalled();
  });

  test('two fingers zoom', () => {
    send('pointerdown', 100, 100, { id: 1 });
    send('pointerdown', 200, 100, { id: 2 });
    send('pointermove', 300, 100, { id: 2 });
    expect(sink.zoomAt).toHaveBeenCalledWith({ x: 200, y: 100 }, 2);
    vi.runAllTimers();
    expect(sink.menu).not.toHaveBeenCalled();
  });

  test('a tap selects, a second one activates; a native double click is ignored', () => {
    tap(50, 50);
    now += 150;
    tap(53, 52);
    host.dispatchEvent(new MouseEvent('dblclick'));
    expect(sink.click).toHaveBeenCalledTimes(1);
    expect(sink.doubleClick).toHaveBeenCalledTimes(1);
    now += 150;
    tap(53, 52);
    expect(sink.click).toHaveBeenCalledTimes(2);
    now += 1000;
    tap(53, 52);
    expect(sink.click).toHaveBeenCalledTimes(3);
    now += 100;
    tap(153, 52);
    expect(sink.click).toHaveBeenCalledTimes(4);
    expect(sink.doubleClick).toHaveBeenCalledTimes(1);
  });

  test('a long press opens the menu once and is not a tap', () => {
    send('pointerdown', 50, 50);
    vi.advanceTimersByTime(600);
    expect(sink.menu).toHaveBeenCalledTimes(1);
    const native = send('contextmenu', 50, 50);
    expect(native.defaultPrevented).toBe(true);
    send('pointerup', 50, 50);
    expect(sink.menu).toHaveBeenCalledTimes(1);
    expect(sink.click).not.toHaveBeenCalled();
    // The mouse event that browsers derive from it would take the focus from the menu.
    expect(send('touchend', 50, 50).defaultPrevented).toBe(true);
    tap(50, 50);
    expect(send('touchend', 50, 50).defaultPrevented).toBe(false);
  });

  test('a long press with a native secondary click opens the menu once', () => {
    send('pointerdown', 50, 50);
    vi.advanceTimersByTime(300);
    send('contextmenu', 50, 50);
    vi.advanceTimersByTime(600);
    send('pointerup', 50, 50);
    expect(sink.menu).toHaveBeenCalledTimes(1);
    expect(sink.click).not.toHaveBeenCalled();
  });
});

describe('mouse', () => {
  const mouse = { kind: 'mouse' };

  test('Shift+drag selects an area, Shift+click is a click', () => {
    const shift = { ...mouse, shiftKey: true };
    send('pointerdown', 10, 10, shift);
    send('pointermove', 90, 60, shift);
    expect(sink.marquee).toHaveBeenLastCalledWith(
      { x: 10, y: 10 },
      { x: 90, y: 60 }
    );
    send('pointerup', 90, 60, shift);
    expect(sink.areaDone).toHaveBeenCalledWith(
      { x: 10, y: 10 },
      { x: 90, y: 60 }
    );
    expect(sink.pan).not.toHaveBeenCalled();
    send('pointerdown', 10, 10, shift);
    send('pointerup', 10, 10, shift);
    expect(sink.click).toHaveBeenCalledTimes(1);
  });

  test('a double click is native; holding the button opens no menu', () => {
    send('pointerdown', 10, 10, mouse);
    vi.advanceTimersByTime(2000);
    send('pointerup', 10, 10, mouse);
    host.dispatchEvent(new MouseEvent('dblclick'));
    expect(sink.menu).not.toHaveBeenCalled();
    expect(sink.click).toHaveBeenCalledTimes(1);
    expect(sink.doubleClick).toHaveBeenCalledTimes(1);
  });
});
