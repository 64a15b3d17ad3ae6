/** Translates pointer and keyboard input into operations of the surface. */
import type { IHitTarget } from '../surfaceApi';
import { fitRect, type IPoint, panBy, zoomAt } from '../geometry/camera';
import { commandOf, type KeyCommand } from './keyCommands';
import type { Direction } from '../scene/sceneAdjacency';
import { CARD_HEADER_H } from '../style/metrics';
import { HitTester } from './hitTester';
import { type IPointerListener, PointerInput } from './pointerInput';
import type { IInteractionHost } from './interactionHost';

const KEY_PAN = 80;
/** Extra reach in pixels for touch input. */
const TOUCH_REACH = 8;

/** Maximum milliseconds and pixels between the clicks of a double-click. */
const DOUBLE_CLICK_MS = 600;
const DOUBLE_CLICK_PX = 8;

export class InteractionController implements IPointerListener {
  private readonly _pointer: PointerInput;
  private readonly _hitTester: HitTester;
  private readonly _abort = new AbortController();
  private _hovered: IHitTarget = null;
  private _hoveredBox = -1;
  /** The last click on a control that expands or steps. */
  private _lastControlClick: {
    id: number;
    point: IPoint;
    time: number;
  } | null = null;

  constructor(
    private readonly _host: IInteractionHost,
    wheelZooms: () => boolean
  ) {
    this._hitTester = new HitTester(_host);
    this._pointer = new PointerInput(_host.root, this, wheelZooms);
    const { signal } = this._abort;
    _host.root.addEventListener('keydown', e => this.press(e), { signal });
    _host.root.addEventListener('focusin', e => this._focusIn(e), { signal });
    _host.root.addEventListener('focusout', e => this._focusOut(e), { signal });
  }

  dispose(): void {
    this._pointer.dispose();
    this._abort.abort();
  }

  pan(dx: number, dy: number): void {
    this._host.move(panBy(this._host.camera, dx, dy));
  }

  zoomAt(point: IPoint, factor: number): void {
    const { camera, view } = this._host;
    this._host.move(zoomAt(camera, view, point, camera.k * factor));
  }

  wheelPan(dx: number, dy: number): boolean {
    return this._host.move(panBy(this._host.camera, dx, dy));
  }

  hover(point: IPoint | null): void {
    const box = point ? this._hitTester.boxAt(point) : -1;
    const target = point ? this._hitTester.targetAt(box, point) : null;
    this._host.root.style.cursor = target ? 'pointer' : '';
    this._host.setHover(box, target);
    const { _hovered: hovered } = this;
    if (
      target?.kind !== hovered?.kind ||
      target?.id !== hovered?.id ||
      box !== this._hoveredBox
    ) {
      this._hovered = target;
      this._hoveredBox = box;
      this._host.callbacks.onHover?.(target, box);
    }
  }

  click(point: IPoint, event: MouseEvent): void {
    const { callbacks } = this._host;
    const reach =
      (event as PointerEvent).pointerType === 'touch' ? TOUCH_REACH : 0;
    const box = this._hitTester.boxAt(point, reach);
    const target = this._hitTester.targetAt(box, point);
    // The expanded box may have moved: the second click of the pair is not for the box that is there now.
    const isSecond = this._isSecond(point, event);
    if (isSecond && this._lastControlClick?.id !== target?.id) {
      return;
    }
    this._lastControlClick = null;
    const chip = this._hitTester.chipAt(box, point);
    if (box >= 0 && chip < 0) {
      this._host.setCursor(box, false);
    }
    if (target?.kind === 'entity') {
      const step = this._hitTester.stepAt(box, point);
      if (chip >= 0) {
        this._lastControlClick = {
          id: target.id,
          point,
          time: event.timeStamp
        };
        callbacks.onActivate?.(chip, { recursive: event.altKey });
      } else if (step !== null && callbacks.onStep) {
        this._lastControlClick = {
          id: target.id,
          point,
          time: event.timeStamp
        };
        callbacks.onStep(target.id, step);
      } else if (this._hitTester.onChevron(box, point)) {
        this._lastControlClick = {
          id: target.id,
          point,
          time: event.timeStamp
        };
        callbacks.onActivate?.(target.id, { recursive: event.altKey });
      } else {
        callbacks.onSelect?.(target.id, { additive: event.shiftKey });
      }
    } else if (target) {
      callbacks.onSelectTensor?.(target, { activated: false });
    } else if (!event.shiftKey) {
      callbacks.onSelect?.(null, { additive: false });
    }
  }

  /** True if the click forms a double-click with an earlier click on a control. */
  private _isSecond(point: IPoint, { timeStamp }: MouseEvent): boolean {
    const { _lastControlClick: lastClick } = this;
    return (
      lastClick !== null &&
      timeStamp - lastClick.time < DOUBLE_CLICK_MS &&
      Math.hypot(point.x - lastClick.point.x, point.y - lastClick.point.y) <
        DOUBLE_CLICK_PX
    );
  }

  doubleClick(point: IPoint, event: MouseEvent): void {
    const { _hitTester: picker } = this;
    const box = picker.boxAt(point);
    const target = box >= 0 ? picker.ofBox(box) : null;
    if (target?.kind === 'entity') {
      // The two clicks of a double-click on a control have already taken effect.
      const control =
        this._isSecond(point, event) ||
        picker.chipAt(box, point) >= 0 ||
        picker.onChevron(box, point) ||
        picker.stepAt(box, point) !== null;
      if (!control) {
        this._host.callbacks.onActivate?.(target.id, {
          recursive: event.altKey
        });
      }
    } else if (!target) {
      const { camera, view } = this._host;
      this._host.animateTo(zoomAt(camera, view, point, camera.k * 1.6));
    }
  }

  menu(point: IPoint, event: MouseEvent): void {
    const { onContextMenu } = this._host.callbacks;
    if (onContextMenu) {
      event.preventDefault();
      const box = this._hitTester.boxAt(point);
      if (box >= 0) {
        this._host.setCursor(box, false);
      }
      const { clientX: x, clientY: y } = event;
      onContextMenu(this._hitTester.targetAt(box, point), { x, y });
    }
  }

  marquee(from: IPoint, to: IPoint | null): void {
    this._host.showMarquee(from, to);
  }

  marqueeEnd(from: IPoint, to: IPoint): void {
    const area = this._hitTester.areaOf(from, to);
    this._host.animateTo(fitRect(area, this._host.view, 4));
  }

  areaDone(from: IPoint, to: IPoint): void {
    const entities = this._hitTester.entitiesIn(
      this._hitTester.areaOf(from, to)
    );
    this._host.callbacks.onSelectArea?.(entities, { additive: true });
  }

  /**
   * If Tab returns to a box, shows its focus ring and brings it into view. If something else (such as a
   * screen reader) focuses a box, the keyboard continues from there.
   */
  private _focusIn({ target, relatedTarget }: FocusEvent): void {
    const named =
      target instanceof SVGElement ? target.getAttribute('data-box') : null;
    if (named === null) {
      return;
    }
    const box = Number(named);
    const other = box !== this._host.cursor;
    if (other || !this._contains(relatedTarget)) {
      const ringed = (target as SVGElement).matches(':focus-visible');
      if (other || ringed) {
        this._host.setCursor(box, ringed);
      }
    }
  }

  /** The ring follows the focus. */
  private _focusOut({ relatedTarget }: FocusEvent): void {
    const { cursor } = this._host;
    if (!this._contains(relatedTarget) && cursor >= 0) {
      this._host.setCursor(cursor, false);
    }
  }

  private _contains(target: EventTarget | null): boolean {
    return target instanceof Node && this._host.root.contains(target);
  }

  press(event: KeyboardEvent): void {
    const command = event.defaultPrevented ? null : commandOf(event);
    if (command && this.execute(command)) {
      event.preventDefault();
      event.stopPropagation();
    }
  }

  /** Executes a key command; returns false if it does not apply and the key should propagate. */
  execute(command: KeyCommand): boolean {
    const { _host: actor } = this;
    switch (command.kind) {
      case 'step':
        return this._step(command.direction, command.additive);
      case 'pan': {
        const [dx, dy] = PAN[command.direction];
        actor.move(panBy(actor.camera, dx * KEY_PAN, dy * KEY_PAN));
        return true;
      }
      case 'activate':
        return this._activate(command.recursive);
      case 'zoom':
        actor.zoom(command.factor);
        return true;
      case 'fit':
        actor.fit();
        return true;
      case 'actual':
        actor.actualSize();
        return true;
      case 'first':
      case 'last':
        return this._focusOutermost(command.kind === 'last');
      case 'menu':
        return this._menuAtCursor();
      case 'clear':
        if (actor.callbacks.onEscape) {
          return actor.callbacks.onEscape();
        }
        actor.setCursor(-1, false);
        actor.callbacks.onSelect?.(null, { additive: false });
        return true;
    }
  }

  private _step(direction: Direction, additive: boolean): boolean {
    const { adjacency, cursor } = this._host;
    if (!adjacency) {
      return false;
    }
    if (cursor < 0) {
      return this._focusOutermost(false);
    }
    const to = adjacency.neighbourIn(cursor, direction);
    if (to >= 0) {
      this._focusAndSelect(to, additive);
    }
    return true;
  }

  private _focusOutermost(last: boolean): boolean {
    const box = this._host.adjacency?.outermostBox(last) ?? -1;
    if (box >= 0) {
      this._focusAndSelect(box, false);
    }
    return box >= 0;
  }

  private _focusAndSelect(box: number, additive: boolean): void {
    const { callbacks } = this._host;
    this._host.setCursor(box, true);
    const target = this._hitTester.ofBox(box);
    if (target?.kind === 'entity') {
      callbacks.onSelect?.(target.id, { additive });
    } else if (target) {
      callbacks.onSelectTensor?.(target, { activated: false });
    }
  }

  private _activate(recursive: boolean): boolean {
    const { cursor, callbacks } = this._host;
    const target = cursor >= 0 ? this._hitTester.ofBox(cursor) : null;
    if (target?.kind === 'entity') {
      callbacks.onActivate?.(target.id, { recursive });
    } else if (target) {
      callbacks.onSelectTensor?.(target, { activated: true });
    }
    return target !== null;
  }

  private _menuAtCursor(): boolean {
    const { cursor, scene, camera, view, root, callbacks } = this._host;
    if (cursor < 0 || !scene || !callbacks.onContextMenu) {
      return false;
    }
    const r = root.getBoundingClientRect();
    callbacks.onContextMenu(this._hitTester.ofBox(cursor), {
      x: r.left + (scene.boxX[cursor] + 8 - camera.x) * camera.k + view.w / 2,
      y:
        r.top +
        (scene.boxY[cursor] + CARD_HEADER_H - camera.y) * camera.k +
        view.h / 2
    });
    return true;
  }
}

const PAN: Readonly<Record<Direction, readonly [number, number]>> = {
  left: [1, 0],
  right: [-1, 0],
  up: [0, 1],
  down: [0, -1]
};
