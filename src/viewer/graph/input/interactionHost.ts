import type { IScene } from '../../../core/types';
import type { ICamera, IHitTarget, ISurfaceCallbacks } from '../surfaceApi';
import type { IPoint, IViewSize } from '../geometry/camera';
import type { SpatialIndex } from '../scene/spatialIndex';
import type { SceneAdjacency } from '../scene/sceneAdjacency';
import type { IDrawContext } from '../draw/drawTarget';

/** The surface, as seen by its interaction controller. */
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
  /** Moves the camera on user input; returns true if it changed. */
  move(camera: ICamera): boolean;
  animateTo(camera: ICamera): void;
  fit(): void;
  actualSize(): void;
  zoom(factor: number): void;
  /** Sets the hovered target and its box, -1 if it has none. */
  setHover(box: number, target: IHitTarget): void;
  /** Moves the keyboard cursor; `byKey` shows its ring and brings it into view. */
  setCursor(box: number, byKey: boolean): void;
  showMarquee(from: IPoint, to: IPoint | null): void;
  /** Offset of an open group's title from the left side of its panel, in world units. */
  titleShift(box: number): number;
}
