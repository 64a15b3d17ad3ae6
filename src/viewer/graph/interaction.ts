/** What the reader does with pointer and keys, turned into steps of the surface. */
import { BoxKind, type IScene } from '../../core/types';
import type { ICamera, IHover, ISurfaceCallbacks } from './api';
import {
  fitRect,
  type IPoint,
  type IRect,
  type ISize,
  panBy,
  toWorld,
  zoomAt
} from './camera';
import type { SceneIndex } from './grid';
import { commandOf, type KeyCommand } from './keys';
import { type Direction, type Links, walkable } from './links';
import { CHEVRON, HEADER, PAD_X, TITLE_BAR } from './metrics';
import type { IDrawing } from './primitives';
import { type IPointerSink, PointerInput } from './pointer';
import { stepAt, stepperOf } from './title';

/** Pixels around a wire that count as on it. */
const NEAR_WIRE = 6;
const KEY_PAN = 80;
/** A finger is wider than a mouse pointer. */
const TOUCH_REACH = 8;

/** The surface as its interaction sees it. */
export interface IActor {
  readonly root: HTMLElement;
  readonly scene: IScene | null;
  readonly index: SceneIndex | null;
  readonly links: Links | null;
  readonly drawing: IDrawing | null;
  readonly view: ISize;
  readonly camera: ICamera;
  readonly callbacks: Partial<ISurfaceCallbacks>;
  readonly cursor: number;
  /** A move by hand; true when the camera changed. */
  move(camera: ICamera): boolean;
  fly(camera: ICamera): void;
  fit(): void;
  actualSize(): void;
  zoom(factor: number): void;
  setHover(box: number, tensor: number): void;
  /** Moves the keyboard's cursor; `byKey` shows its ring and brings it into view. */
  setCursor(box: number, byKey: boolean): void;
  showBand(from: IPoint, to: IPoint | null): void;
  /** How far the title of an open group stands from its panel's left side, in world units. */
  titleShift(box: number): number;
}

export class Interaction implements IPointerSink {
  private readonly pointer: PointerInput;
  private readonly abort = new AbortController();
  private hovered: IHover = null;

  constructor(
    private readonly actor: IActor,
    wheelZooms: () => boolean
  ) {
    this.pointer = new PointerInput(actor.root, this, wheelZooms);
    const { signal } = this.abort;
    actor.root.addEventListener('keydown', e => this.keyDown(e), { signal });
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
    const box = at ? this.boxAt(at) : -1;
    const tensor = at && box < 0 ? this.tensorAt(at) : -1;
    const what =
      box >= 0
        ? this.describe(box)
        : tensor >= 0
          ? { kind: 'tensor' as const, id: tensor }
          : null;
    this.actor.root.style.cursor = what ? 'pointer' : '';
    const stub = what?.kind === 'tensor' ? what.id : -1;
    this.actor.setHover(what?.kind === 'entity' ? box : -1, stub);
    if (what?.kind !== this.hovered?.kind || what?.id !== this.hovered?.id) {
      this.hovered = what;
      this.actor.callbacks.onHover?.(what);
    }
  }

  click(at: IPoint, event: MouseEvent): void {
    const { callbacks } = this.actor;
    const reach =
      (event as PointerEvent).pointerType === 'touch' ? TOUCH_REACH : 0;
    const box = this.boxAt(at, reach);
    const what = box >= 0 ? this.describe(box) : null;
    if (what) {
      this.actor.setCursor(box, false);
    }
    if (what?.kind === 'entity') {
      const step = this.stepAt(box, at);
      if (step !== null && callbacks.onStep) {
        callbacks.onStep(what.id, step);
      } else if (this.onChevron(box, at)) {
        callbacks.onActivate?.(what.id, { recursive: event.altKey });
      } else {
        callbacks.onSelect?.(what.id, { additive: event.shiftKey });
      }
      return;
    }
    const tensor = what?.id ?? this.tensorAt(at);
    if (tensor >= 0) {
      callbacks.onSelectTensor?.(tensor);
    } else if (!event.shiftKey) {
      callbacks.onSelect?.(null, { additive: false });
    }
  }

  doubleClick(at: IPoint, event: MouseEvent): void {
    const box = this.boxAt(at);
    const what = box >= 0 ? this.describe(box) : null;
    if (what?.kind === 'entity') {
      // The two clicks of a double-click on a control have already done what they do.
      if (!this.onChevron(box, at) && this.stepAt(box, at) === null) {
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
      const box = this.boxAt(at);
      const tensor = box < 0 ? this.tensorAt(at) : -1;
      if (box >= 0) {
        this.actor.setCursor(box, false);
      }
      const wire = tensor >= 0 ? { kind: 'tensor' as const, id: tensor } : null;
      onContextMenu(box >= 0 ? this.describe(box) : wire, {
        x: event.clientX,
        y: event.clientY
      });
    }
  }

  band(from: IPoint, to: IPoint | null): void {
    this.actor.showBand(from, to);
  }

  bandDone(from: IPoint, to: IPoint): void {
    this.actor.fly(fitRect(this.areaOf(from, to), this.actor.view, 4));
  }

  /** Nodes and closed groups whose middle lies in the rectangle. */
  areaDone(from: IPoint, to: IPoint): void {
    const { scene, index, callbacks } = this.actor;
    const area = this.areaOf(from, to);
    const inside = (box: number): boolean => {
      const x = scene!.boxX[box] + scene!.boxW[box] / 2 - area.x;
      const y = scene!.boxY[box] + scene!.boxH[box] / 2 - area.y;
      return (
        scene!.boxKind[box] <= BoxKind.Group &&
        x >= 0 &&
        y >= 0 &&
        x <= area.w &&
        y <= area.h
      );
    };
    const boxes = scene && index ? index.boxesIn(area).filter(inside) : [];
    const entities = boxes
      .sort((a, b) => a - b)
      .map(box => scene!.boxEntity[box]);
    callbacks.onSelectArea?.(entities, { additive: true });
  }

  private areaOf(from: IPoint, to: IPoint): IRect {
    const { camera, view } = this.actor;
    const a = toWorld(
      camera,
      view,
      Math.min(from.x, to.x),
      Math.min(from.y, to.y)
    );
    const b = toWorld(
      camera,
      view,
      Math.max(from.x, to.x),
      Math.max(from.y, to.y)
    );
    return { x: a.x, y: a.y, w: b.x - a.x, h: b.y - a.y };
  }

  /** Tab came back to a box: its ring shows again, and what was panned away comes into view. */
  private focusIn({ target, relatedTarget }: FocusEvent): void {
    if (
      target instanceof SVGElement &&
      !this.holds(relatedTarget) &&
      target.getAttribute('data-box') === String(this.actor.cursor) &&
      target.matches(':focus-visible')
    ) {
      this.actor.setCursor(this.actor.cursor, true);
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

  private keyDown(event: KeyboardEvent): void {
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

  /** The leftmost or rightmost box; of a column the topmost. */
  private end(last: boolean): boolean {
    const { scene } = this.actor;
    let best = -1;
    let least = Infinity;
    for (let b = 0; scene && b < scene.boxCount; b++) {
      if (walkable(scene, b) && scene.boxKind[b] !== BoxKind.OpenGroup) {
        const middle = Math.round(scene.boxX[b] + scene.boxW[b] / 2);
        const along = last ? -middle : middle;
        if (
          along < least ||
          (along === least && scene.boxY[b] < scene.boxY[best])
        ) {
          least = along;
          best = b;
        }
      }
    }
    if (best >= 0) {
      this.land(best, false);
    }
    return best >= 0;
  }

  private land(box: number, additive: boolean): void {
    const { callbacks } = this.actor;
    this.actor.setCursor(box, true);
    const what = this.describe(box);
    if (what?.kind === 'entity') {
      callbacks.onSelect?.(what.id, { additive });
    } else if (what) {
      callbacks.onSelectTensor?.(what.id);
    }
  }

  private activate(recursive: boolean): boolean {
    const what =
      this.actor.cursor >= 0 ? this.describe(this.actor.cursor) : null;
    if (what?.kind === 'entity') {
      this.actor.callbacks.onActivate?.(what.id, { recursive });
    } else if (what) {
      this.actor.callbacks.onSelectTensor?.(what.id);
    }
    return what !== null;
  }

  private menuAtCursor(): boolean {
    const { cursor, scene, camera, view, root, callbacks } = this.actor;
    if (cursor < 0 || !scene || !callbacks.onContextMenu) {
      return false;
    }
    const r = root.getBoundingClientRect();
    callbacks.onContextMenu(this.describe(cursor), {
      x: r.left + (scene.boxX[cursor] + 8 - camera.x) * camera.k + view.w / 2,
      y:
        r.top + (scene.boxY[cursor] + HEADER - camera.y) * camera.k + view.h / 2
    });
    return true;
  }

  private describe(box: number): IHover {
    const { scene } = this.actor;
    if (!scene) {
      return null;
    }
    const id = scene.boxEntity[box];
    return scene.boxKind[box] <= BoxKind.OpenGroup
      ? { kind: 'entity', id }
      : { kind: 'tensor', id };
  }

  private boxAt(at: IPoint, reach = 0): number {
    const { camera, view, index } = this.actor;
    const p = toWorld(camera, view, at.x, at.y);
    return index?.pick(p.x, p.y, reach / camera.k) ?? -1;
  }

  private tensorAt(at: IPoint): number {
    const { camera, view, index, scene } = this.actor;
    const p = toWorld(camera, view, at.x, at.y);
    const edge = index?.pickEdge(p.x, p.y, NEAR_WIRE / camera.k) ?? -1;
    return edge >= 0 && scene ? scene.edgeTensor[edge] : -1;
  }

  /** What a click in the title of a repeat asks for. */
  private stepAt(box: number, at: IPoint): 1 | -1 | 0 | null {
    const { camera, view, drawing } = this.actor;
    const stepper = drawing && stepperOf(drawing, box, camera.k);
    if (!stepper) {
      return null;
    }
    const { scene } = drawing;
    const p = toWorld(camera, view, at.x, at.y);
    const left = scene.boxX[box] + this.actor.titleShift(box);
    return stepAt(stepper, p.x - left, p.y - scene.boxY[box]);
  }

  private onChevron(box: number, at: IPoint): boolean {
    const { scene, camera, view } = this.actor;
    if (!scene || scene.boxKind[box] === BoxKind.Node) {
      return false;
    }
    const p = toWorld(camera, view, at.x, at.y);
    const open = scene.boxKind[box] === BoxKind.OpenGroup;
    const left = scene.boxX[box] + this.actor.titleShift(box);
    const height = open ? TITLE_BAR : HEADER;
    return (
      p.x >= left &&
      p.x - left <= PAD_X + CHEVRON &&
      p.y - scene.boxY[box] <= height
    );
  }
}

const PAN: Readonly<Record<Direction, readonly [number, number]>> = {
  left: [1, 0],
  right: [-1, 0],
  up: [0, 1],
  down: [0, -1]
};
