import type { IScene } from '../../../core/types';
import type { ICamera, IHitTarget, ISurfaceCallbacks } from '../surfaceApi';
import type { IPoint, IViewSize } from '../geometry/camera';
import type { SpatialIndex } from '../scene/spatialIndex';
import type { SceneAdjacency } from '../scene/sceneAdjacency';
import type { IDrawContext } from '../draw/drawTarget';

/** The surface as its interaction sees it. */
export interface IInteractionHost {
  readonly root: HTMLElement;
  readonly scene: IScene | null;
  readonly index: SpatialIndex | null;
  readonly adjacency: SceneAdjacency | null;
  readonly drawing: IDrawContext | null;
  readonly view: IViewSize;
  readonly camera: ICamera;
  readonly callbacks: Partial<ISurfaceCallbacks>;
  readonly cursor: number;
  /** A move by hand; true when the camera changed. */
  move(camera: ICamera): boolean;
  animateTo(camera: ICamera): void;
  fit(): void;
  actualSize(): void;
  zoom(factor: number): void;
  /** What is under the pointer, and its box, -1 = none. */
  setHover(box: number, what: IHitTarget): void;
  /** Moves the keyboard's cursor; `byKey` shows its ring and brings it into view. */
  setCursor(box: number, byKey: boolean): void;
  showMarquee(from: IPoint, to: IPoint | null): void;
  /** How far the title of an open group stands from its panel's left side, in world units. */
  titleShift(box: number): number;
}
