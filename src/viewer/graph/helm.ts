/** Where the camera is, how it gets elsewhere, and what it does by itself until the reader moves it. */
import type { IScene } from '../../core/types';
import type { ICamera, ISetSceneOptions } from './api';
import {
  boxRect,
  clampCamera,
  fitRect,
  fitScene,
  type IRect,
  type ISize,
  sameCamera,
  sceneSize,
  shiftInto,
  zoomAt
} from './camera';
import { boxesRect, middleEntity } from './entities';
import {
  anchorOf,
  type Auto,
  autoCamera,
  heldCamera,
  OPENED_MARGIN,
  type IPictured,
  readableCamera,
  turnedCamera
} from './homing';
import { Flight } from './motion';

/** Screen pixels between a box brought into view and the edge of the view. */
const VIEW_MARGIN = 40;
const READING_ZOOM = 0.9;

/** What the camera looks at. */
export interface IHelmed {
  readonly scene: IScene | null;
  readonly view: ISize;
}

export class Helm {
  private readonly flight: Flight;
  private _camera: ICamera = { x: 0, y: 0, k: 1 };
  /** What a resize does again, until the reader moves the camera. */
  private auto: Auto | null = 'home';
  /** How often the camera went somewhere by itself. */
  turns = 0;

  constructor(
    private readonly place: IHelmed,
    /** Called after each change of the camera. */
    private readonly moved: () => void,
    reduced: () => boolean
  ) {
    this.flight = new Flight(camera => this.apply(camera), reduced);
  }

  get camera(): ICamera {
    return this._camera;
  }

  /** Where the camera is, or where it goes by itself. */
  get aim(): ICamera {
    const { auto } = this;
    const { scene, view } = this.place;
    return scene && auto && view.w > 0 && view.h > 0
      ? this.clamped(autoCamera(scene, view, auto))
      : this._camera;
  }

  go(camera: ICamera, animate: boolean): void {
    this.auto = null;
    this.flight.go(this._camera, this.clamped(camera), animate);
  }

  /** A move by hand; true when the camera changed. */
  move(camera: ICamera): boolean {
    this.flight.stop();
    const next = this.clamped(camera);
    if (sameCamera(next, this._camera)) {
      return false;
    }
    this.auto = null;
    this.apply(next);
    return true;
  }

  fit(animate: boolean): void {
    const { scene, view } = this.place;
    if (scene) {
      const to = this.clamped(fitScene(scene, view));
      this.flight.go(this._camera, to, animate);
      this.auto = 'fit';
      this.turns++;
    }
  }

  /** Another scene is there: its beginning, or where what the reader looks at stays where it was. */
  follow(
    before: IPictured | null,
    scene: IScene,
    how: ISetSceneOptions,
    looked: number | null
  ): void {
    if (!before || how.keepCamera === false) {
      this.home();
    } else if (how.still) {
      this.stay(before, scene);
    } else if (this.auto && how.anchorEntity === undefined) {
      // The reader has not looked elsewhere: all of it, or its beginning, as before.
      this.rehome();
    } else if (how.readable) {
      this.read(before, scene);
    } else {
      const anchor = anchorOf(before, scene, how.anchorEntity ?? looked);
      const turned =
        before.scene.direction === scene.direction
          ? null
          : turnedCamera(this._camera, this.place.view, scene, anchor);
      if (turned) {
        this.go(turned, false);
      } else {
        this.hold(before.scene, scene, anchor);
      }
    }
  }

  /** As at first: all of the picture, or its beginning. */
  home(): void {
    this.auto = 'home';
    this.rehome();
  }

  /** Boxes are a little larger or smaller: what is in the middle stays where it is, nothing comes into view. */
  private stay(before: IPictured, after: IScene): void {
    this.flight.stop();
    const middle = middleEntity(before.scene, before.camera);
    const { view } = this.place;
    const held = heldCamera(this._camera, view, before.scene, after, middle);
    this.apply(this.clamped(held?.camera ?? this._camera));
  }

  /** All of the picture where that can be read, else what was in the middle at a zoom that can. */
  private read(before: IPictured, after: IScene): void {
    const { view } = this.place;
    const entity = middleEntity(before.scene, before.camera);
    const camera = readableCamera(this._camera, view, after, entity);
    if (camera) {
      this.go(camera, false);
    } else {
      this.fit(false);
    }
  }

  /** Goes where it goes by itself, unless the reader has moved it. */
  rehome(): void {
    if (this.place.scene && this.auto) {
      this.flight.stop();
      this.apply(this.aim);
      this.turns++;
    }
  }

  /** Brings the entity, or its closest visible ancestor, to the middle at a zoom that can be read. */
  zoomTo(entity: number, animate: boolean): void {
    const { scene, view } = this.place;
    const box = scene?.boxOf(entity) ?? -1;
    if (box < 0 || !scene) {
      return;
    }
    const whole = fitRect(boxRect(scene, box), view, 1);
    const k = Math.min(
      Math.max(this._camera.k, READING_ZOOM),
      Math.max(whole.k, 0.3)
    );
    this.go({ x: whole.x, y: whole.y, k }, animate);
  }

  /** Brings these, or what hides them, into view as large as they fit. */
  fitEntities(entities: readonly number[]): void {
    const { scene, view } = this.place;
    const area = scene && boxesRect(scene, entities);
    if (area) {
      this.go(fitRect(area, view, 1.5), true);
    }
  }

  /** The camera after zooming about the middle of the view. */
  zoomed(factor: number): ICamera {
    const { view } = this.place;
    const at = { x: view.w / 2, y: view.h / 2 };
    return zoomAt(this._camera, view, at, this._camera.k * factor);
  }

  /** Keeps the anchor's top left corner where it was on the screen. */
  private hold(before: IScene, after: IScene, anchor: number | null): void {
    this.flight.stop();
    this.auto = null;
    const { view } = this.place;
    const held = heldCamera(this._camera, view, before, after, anchor);
    this.apply(held?.camera ?? this.clamped(this._camera));
    if (held) {
      this.reveal(held.seen, OPENED_MARGIN);
    }
  }

  /** Pans by as little as brings the rectangle's top left part into view. */
  reveal(r: IRect, margin = VIEW_MARGIN): void {
    const { _camera: c } = this;
    const { dx, dy } = shiftInto(c, this.place.view, r, margin);
    if (dx !== 0 || dy !== 0) {
      this.auto = null;
      this.apply(this.clamped({ x: c.x + dx, y: c.y + dy, k: c.k }));
    }
  }

  clamped(camera: ICamera): ICamera {
    const { scene, view } = this.place;
    return scene && view.w > 0
      ? clampCamera(camera, sceneSize(scene), view)
      : camera;
  }

  stop(): void {
    this.flight.stop();
  }

  private apply(camera: ICamera): void {
    this._camera = camera;
    this.moved();
  }
}
