/** What the reader does with pointer and keys, turned into steps of the surface. */
import type { IHover } from './api';
import { fitRect, type IPoint, panBy, zoomAt } from './camera';
import { commandOf, type KeyCommand } from './keys';
import type { Direction } from './links';
import { HEADER } from './metrics';
import { Picker } from './picking';
import { type IPointerSink, PointerInput } from './pointer';
import type { IActor } from './interactionHost';

const KEY_PAN = 80;
/** A finger is wider than a mouse pointer. */
const TOUCH_REACH = 8;

/** Milliseconds and pixels between the clicks of a double-click, at most. */
const TWICE = 600;
const NEAR = 8;

export class Interaction implements IPointerSink {
  private readonly pointer: PointerInput;
  private readonly picker: Picker;
  private readonly abort = new AbortController();
  private hovered: IHover = null;
  private hoveredBox = -1;
  /** The last click, where it was on a control that opens or steps. */
  private used: { id: number; at: IPoint; time: number } | null = null;

  constructor(
    private readonly actor: IActor,
    wheelZooms: () => boolean
  ) {
    this.picker = new Picker(actor);
    this.pointer = new PointerInput(actor.root, this, wheelZooms);
    const { signal } = this.abort;
    actor.root.addEventListener('keydown', e => this.press(e), { signal });
    actor.root.addEventListener('focusin', e => this.focusIn(e), { signal });
    actor.root.addEventListener('focusout', e => this.focusOut(e), { signal });
  }

  dispose(): void {
    this.pointer.dispose();
    this.abort.abort();
  }

  pan(dx: number, dy: number): void {
    this.actor.move(panBy(this.actor.camera, dx, dy));
  }

  zoomAt(at: IPoint, factor: number): void {
    const { camera, view } = this.actor;
    this.actor.move(zoomAt(camera, view, at, camera.k * factor));
  }

  wheelPan(dx: number, dy: number): boolean {
    return this.actor.move(panBy(this.actor.camera, dx, dy));
  }

  hover(at: IPoint | null): void {
    const box = at ? this.picker.boxAt(at) : -1;
    const what = at ? this.picker.whatAt(box, at) : null;
    this.actor.root.style.cursor = what ? 'pointer' : '';
    this.actor.setHover(box, what);
    const { hovered } = this;
    if (
      what?.kind !== hovered?.kind ||
      what?.id !== hovered?.id ||
      box !== this.hoveredBox
    ) {
      this.hovered = what;
      this.hoveredBox = box;
      this.actor.callbacks.onHover?.(what, box);
    }
  }

  click(at: IPoint, event: MouseEvent): void {
    const { callbacks } = this.actor;
    const reach =
      (event as PointerEvent).pointerType === 'touch' ? TOUCH_REACH : 0;
    const box = this.picker.boxAt(at, reach);
    const what = this.picker.whatAt(box, at);
    // What was opened may have moved into view: the other click of the pair is not for what is there now.
    const again = this.isSecond(at, event);
    if (again && this.used?.id !== what?.id) {
      return;
    }
    this.used = null;
    const chip = this.picker.chipAt(box, at);
    if (box >= 0 && chip < 0) {
      this.actor.setCursor(box, false);
    }
    if (what?.kind === 'entity') {
      const step = this.picker.stepAt(box, at);
      if (chip >= 0) {
        this.used = { id: what.id, at, time: event.timeStamp };
        callbacks.onActivate?.(chip, { recursive: event.altKey });
      } else if (step !== null && callbacks.onStep) {
        this.used = { id: what.id, at, time: event.timeStamp };
        callbacks.onStep(what.id, step);
      } else if (this.picker.onChevron(box, at)) {
        this.used = { id: what.id, at, time: event.timeStamp };
        callbacks.onActivate?.(what.id, { recursive: event.altKey });
      } else {
        callbacks.onSelect?.(what.id, { additive: event.shiftKey });
      }
    } else if (what) {
      callbacks.onSelectTensor?.(what, { activated: false });
    } else if (!event.shiftKey) {
      callbacks.onSelect?.(null, { additive: false });
    }
  }

  /** Whether it is of one double-click with a click on a control. */
  private isSecond(at: IPoint, { timeStamp }: MouseEvent): boolean {
    const { used } = this;
    return (
      used !== null &&
      timeStamp - used.time < TWICE &&
      Math.hypot(at.x - used.at.x, at.y - used.at.y) < NEAR
    );
  }

  doubleClick(at: IPoint, event: MouseEvent): void {
    const { picker } = this;
    const box = picker.boxAt(at);
    const what = box >= 0 ? picker.ofBox(box) : null;
    if (what?.kind === 'entity') {
      // The two clicks of a double-click on a control have already done what they do.
      const control =
        this.isSecond(at, event) ||
        picker.chipAt(box, at) >= 0 ||
        picker.onChevron(box, at) ||
        picker.stepAt(box, at) !== null;
      if (!control) {
        this.actor.callbacks.onActivate?.(what.id, { recursive: event.altKey });
      }
    } else if (!what) {
      const { camera, view } = this.actor;
      this.actor.fly(zoomAt(camera, view, at, camera.k * 1.6));
    }
  }

  menu(at: IPoint, event: MouseEvent): void {
    const { onContextMenu } = this.actor.callbacks;
    if (onContextMenu) {
      event.preventDefault();
      const box = this.picker.boxAt(at);
      if (box >= 0) {
        this.actor.setCursor(box, false);
      }
      const { clientX: x, clientY: y } = event;
      onContextMenu(this.picker.whatAt(box, at), { x, y });
    }
  }

  band(from: IPoint, to: IPoint | null): void {
    this.actor.showBand(from, to);
  }

  bandDone(from: IPoint, to: IPoint): void {
    const area = this.picker.areaOf(from, to);
    this.actor.fly(fitRect(area, this.actor.view, 4));
  }

  areaDone(from: IPoint, to: IPoint): void {
    const entities = this.picker.entitiesIn(this.picker.areaOf(from, to));
    this.actor.callbacks.onSelectArea?.(entities, { additive: true });
  }

  /**
   * Tab came back to a box: its ring shows again, and what was panned away comes into view. A box that
   * something else gave the focus, a screen reader for one, is where the keys go on from.
   */
  private focusIn({ target, relatedTarget }: FocusEvent): void {
    const named =
      target instanceof SVGElement ? target.getAttribute('data-box') : null;
    if (named === null) {
      return;
    }
    const box = Number(named);
    const other = box !== this.actor.cursor;
    if (other || !this.holds(relatedTarget)) {
      const ringed = (target as SVGElement).matches(':focus-visible');
      if (other || ringed) {
        this.actor.setCursor(box, ringed);
      }
    }
  }

  /** The ring is that of the focus: it goes with it. */
  private focusOut({ relatedTarget }: FocusEvent): void {
    const { cursor } = this.actor;
    if (!this.holds(relatedTarget) && cursor >= 0) {
      this.actor.setCursor(cursor, false);
    }
  }

  private holds(target: EventTarget | null): boolean {
    return target instanceof Node && this.actor.root.contains(target);
  }

  press(event: KeyboardEvent): void {
    const command = event.defaultPrevented ? null : commandOf(event);
    if (command && this.run(command)) {
      event.preventDefault();
      event.stopPropagation();
    }
  }

  /** Carries out a key's command; false = nothing to do here, the key goes on. */
  run(command: KeyCommand): boolean {
    const { actor } = this;
    switch (command.kind) {
      case 'step':
        return this.step(command.direction, command.additive);
      case 'pan': {
        const [dx, dy] = PAN[command.direction];
        actor.move(panBy(actor.camera, dx * KEY_PAN, dy * KEY_PAN));
        return true;
      }
      case 'activate':
        return this.activate(command.recursive);
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
        return this.end(command.kind === 'last');
      case 'menu':
        return this.menuAtCursor();
      case 'clear':
        if (actor.callbacks.onEscape) {
          return actor.callbacks.onEscape();
        }
        actor.setCursor(-1, false);
        actor.callbacks.onSelect?.(null, { additive: false });
        return true;
    }
  }

  private step(direction: Direction, additive: boolean): boolean {
    const { links, cursor } = this.actor;
    if (!links) {
      return false;
    }
    if (cursor < 0) {
      return this.end(false);
    }
    const to = links.step(cursor, direction);
    if (to >= 0) {
      this.land(to, additive);
    }
    return true;
  }

  private end(last: boolean): boolean {
    const box = this.actor.links?.end(last) ?? -1;
    if (box >= 0) {
      this.land(box, false);
    }
    return box >= 0;
  }

  private land(box: number, additive: boolean): void {
    const { callbacks } = this.actor;
    this.actor.setCursor(box, true);
    const what = this.picker.ofBox(box);
    if (what?.kind === 'entity') {
      callbacks.onSelect?.(what.id, { additive });
    } else if (what) {
      callbacks.onSelectTensor?.(what, { activated: false });
    }
  }

  private activate(recursive: boolean): boolean {
    const { cursor, callbacks } = this.actor;
    const what = cursor >= 0 ? this.picker.ofBox(cursor) : null;
    if (what?.kind === 'entity') {
      callbacks.onActivate?.(what.id, { recursive });
    } else if (what) {
      callbacks.onSelectTensor?.(what, { activated: true });
    }
    return what !== null;
  }

  private menuAtCursor(): boolean {
    const { cursor, scene, camera, view, root, callbacks } = this.actor;
    if (cursor < 0 || !scene || !callbacks.onContextMenu) {
      return false;
    }
    const r = root.getBoundingClientRect();
    callbacks.onContextMenu(this.picker.ofBox(cursor), {
      x: r.left + (scene.boxX[cursor] + 8 - camera.x) * camera.k + view.w / 2,
      y:
        r.top + (scene.boxY[cursor] + HEADER - camera.y) * camera.k + view.h / 2
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
