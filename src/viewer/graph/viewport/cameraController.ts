/** The camera's position, its animations, and its automatic mode until the user moves it. */
import type { IScene } from '../../../core/types';
import type { ICamera, ISetSceneOptions } from '../surfaceApi';
import {
  boxRect,
  clampCamera,
  fitRect,
  fitScene,
  type IRect,
  type IViewSize,
  sameCamera,
  sceneSize,
  deltaIntoView,
  zoomAt
} from '../geometry/camera';
import { boundsOf, nearestEntity } from '../scene/entityBoxes';
import {
  chooseAnchor,
  type AutoCameraMode,
  autoCamera,
  cameraHoldingAnchor,
  OPENED_MARGIN,
  type ICameraScene,
  readableCamera,
  cameraAfterDirectionChange
} from './cameraPolicy';
import { CameraAnimation } from './cameraAnimation';

/** Screen pixels between a revealed box and the edge of the view. */
const VIEW_MARGIN = 40;
const READING_ZOOM = 0.9;

/** The scene that the camera shows. */
export interface ICameraTarget {
  readonly scene: IScene | null;
  readonly view: IViewSize;
}

export class CameraController {
  private readonly _animation: CameraAnimation;
  private _camera: ICamera = { x: 0, y: 0, k: 1 };
  /** The mode that a resize applies again, until the user moves the camera. */
  private _autoMode: AutoCameraMode | null = 'home';
  /** Number of automatic camera moves. */
  autoMoves = 0;

  constructor(
    private readonly _place: ICameraTarget,
    /** Called after each camera change. */
    private readonly _moved: () => void,
    reduced: () => boolean
  ) {
    this._animation = new CameraAnimation(
      camera => this._apply(camera),
      reduced
    );
  }

  get camera(): ICamera {
    return this._camera;
  }

  /** The camera, or the target of its automatic mode. */
  get aim(): ICamera {
    const { _autoMode: auto } = this;
    const { scene, view } = this._place;
    return scene && auto && view.w > 0 && view.h > 0
      ? this.clamped(autoCamera(scene, view, auto))
      : this._camera;
  }

  moveTo(camera: ICamera, animate: boolean): void {
    this._autoMode = null;
    this._animation.start(this._camera, this.clamped(camera), animate);
  }

  /** Applies a camera set by the user; returns true if it changed. */
  applyUserCamera(camera: ICamera): boolean {
    this._animation.stop();
    const next = this.clamped(camera);
    if (sameCamera(next, this._camera)) {
      return false;
    }
    this._autoMode = null;
    this._apply(next);
    return true;
  }

  fit(animate: boolean): void {
    const { scene, view } = this._place;
    if (scene) {
      const to = this.clamped(fitScene(scene, view));
      this._animation.start(this._camera, to, animate);
      this._autoMode = 'fit';
      this.autoMoves++;
    }
  }

  /** Adapts to a new scene: shows its beginning, or keeps the entity in focus in place. */
  onSceneChange(
    before: ICameraScene | null,
    scene: IScene,
    options: ISetSceneOptions,
    focused: number | null
  ): void {
    if (!before || options.keepCamera === false) {
      this.home();
    } else if (options.keepsCenter) {
      this._keepMiddle(before, scene);
    } else if (this._autoMode && options.anchorEntity === undefined) {
      // The user has not moved the camera: show the whole graph, or its beginning, as before.
      this.applyAutoCamera();
    } else if (options.readable) {
      this._showReadable(before, scene);
    } else {
      const anchor = chooseAnchor(
        before,
        scene,
        options.anchorEntity ?? focused
      );
      const camera =
        before.scene.direction === scene.direction
          ? null
          : cameraAfterDirectionChange(
              this._camera,
              this._place.view,
              scene,
              anchor
            );
      if (camera) {
        this.moveTo(camera, false);
      } else {
        this._keepAnchorInPlace(before.scene, scene, anchor);
      }
    }
  }

  /** Initial view: the whole graph, or its beginning. */
  home(): void {
    this._autoMode = 'home';
    this.applyAutoCamera();
  }

  /**
   * Boxes changed size slightly: the middle of the view stays in place, and nothing is brought into view.
   */
  private _keepMiddle(before: ICameraScene, after: IScene): void {
    this._animation.stop();
    const middle = nearestEntity(before.scene, before.camera);
    const { view } = this._place;
    const anchored = cameraHoldingAnchor(
      this._camera,
      view,
      before.scene,
      after,
      middle
    );
    this._apply(this.clamped(anchored?.camera ?? this._camera));
  }

  /** Shows the whole graph if readable, else the previous middle of the view at a readable zoom. */
  private _showReadable(before: ICameraScene, after: IScene): void {
    const { view } = this._place;
    const entity = nearestEntity(before.scene, before.camera);
    const camera = readableCamera(this._camera, view, after, entity);
    if (camera) {
      this.moveTo(camera, false);
    } else {
      this.fit(false);
    }
  }

  /** Moves to the automatic position, unless the user has moved the camera. */
  applyAutoCamera(): void {
    if (this._place.scene && this._autoMode) {
      this._animation.stop();
      this._apply(this.aim);
      this.autoMoves++;
    }
  }

  /** Centres the entity, or its closest visible ancestor, at a readable zoom. */
  zoomTo(entity: number, animate: boolean): void {
    const { scene, view } = this._place;
    const box = scene?.boxOf(entity) ?? -1;
    if (box < 0 || !scene) {
      return;
    }
    const fitted = fitRect(boxRect(scene, box), view, 1);
    const k = Math.min(
      Math.max(this._camera.k, READING_ZOOM),
      Math.max(fitted.k, 0.3)
    );
    this.moveTo({ x: fitted.x, y: fitted.y, k }, animate);
  }

  /** Fits the entities, or the groups that hide them, into the view. */
  fitEntities(entities: readonly number[]): void {
    const { scene, view } = this._place;
    const area = scene && boundsOf(scene, entities);
    if (area) {
      this.moveTo(fitRect(area, view, 1.5), true);
    }
  }

  /** The camera after zooming around the middle of the view. */
  zoomed(factor: number): ICamera {
    const { view } = this._place;
    const center = { x: view.w / 2, y: view.h / 2 };
    return zoomAt(this._camera, view, center, this._camera.k * factor);
  }

  /** Keeps the anchor's top left corner in place on the screen. */
  private _keepAnchorInPlace(
    before: IScene,
    after: IScene,
    anchor: number | null
  ): void {
    this._animation.stop();
    this._autoMode = null;
    const { view } = this._place;
    const anchored = cameraHoldingAnchor(
      this._camera,
      view,
      before,
      after,
      anchor
    );
    this._apply(anchored?.camera ?? this.clamped(this._camera));
    if (anchored) {
      this.reveal(anchored.visible, OPENED_MARGIN);
    }
  }

  /** Pans as little as needed to bring the top left part of the rectangle into view. */
  reveal(r: IRect, margin = VIEW_MARGIN): void {
    const { _camera: c } = this;
    const { dx, dy } = deltaIntoView(c, this._place.view, r, margin);
    if (dx !== 0 || dy !== 0) {
      this._autoMode = null;
      this._apply(this.clamped({ x: c.x + dx, y: c.y + dy, k: c.k }));
    }
  }

  clamped(camera: ICamera): ICamera {
    const { scene, view } = this._place;
    return scene && view.w > 0
      ? clampCamera(camera, sceneSize(scene), view)
      : camera;
  }

  stop(): void {
    this._animation.stop();
  }

  private _apply(camera: ICamera): void {
    this._camera = camera;
    this._moved();
  }
}
