import type { IScene } from '../../core/types';
import type { ICamera, IHover, ISurfaceCallbacks } from './api';
import type { IPoint, ISize } from './camera';
import type { SceneIndex } from './grid';
import type { Links } from './links';
import type { IDrawing } from './primitives';

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
  /** What is under the pointer, and its box, -1 = none. */
  setHover(box: number, what: IHover): void;
  /** Moves the keyboard's cursor; `byKey` shows its ring and brings it into view. */
  setCursor(box: number, byKey: boolean): void;
  showBand(from: IPoint, to: IPoint | null): void;
  /** How far the title of an open group stands from its panel's left side, in world units. */
  titleShift(box: number): number;
}
