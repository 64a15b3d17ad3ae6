/** The drawing surface: one imperative scene inside one host element. */
import type { IGraphModel, IScene, ITree } from '../../core/types';
import type {
  ICamera,
  ICardDetails,
  IOverlay,
  ISetSceneOptions,
  ISurfaceOptions
} from './api';

export * from './api';

export interface IGraphSurface {
  setScene(
    scene: IScene,
    model: IGraphModel,
    tree: ITree,
    how?: ISetSceneOptions
  ): void;
  setOverlay(overlay: IOverlay | null): void;
  setSelection(entities: readonly number[]): void;
  /** A tensor to keep bright (inspector, table); null = none. */
  setTensor(tensor: number | null): void;
  /** Search hits; `current` gets the stronger mark. */
  setHighlights(entities: readonly number[], current?: number | null): void;
  setDetails(details: ICardDetails): void;
  /** Re-reads the theme's computed colours. */
  setTheme(): void;
  fit(animate?: boolean): void;
  /** Brings the entity (or its closest visible ancestor) to the middle, zooming to reading size when smaller. */
  zoomTo(entity: number, animate?: boolean): void;
  /** Multiplies the zoom about the middle of the view. */
  zoom(factor: number): void;
  actualSize(): void;
  readonly camera: ICamera;
  setCamera(camera: ICamera, animate?: boolean): void;
  focus(): void;
  dispose(): void;
}

/** Draws scenes; `new GraphSurface(host, options)`. The host needs a size and `position: relative`. */
export declare class GraphSurface implements IGraphSurface {
  constructor(host: HTMLElement, options?: ISurfaceOptions);
  setScene(
    scene: IScene,
    model: IGraphModel,
    tree: ITree,
    how?: ISetSceneOptions
  ): void;
  setOverlay(overlay: IOverlay | null): void;
  setSelection(entities: readonly number[]): void;
  setTensor(tensor: number | null): void;
  setHighlights(entities: readonly number[], current?: number | null): void;
  setDetails(details: ICardDetails): void;
  setTheme(): void;
  fit(animate?: boolean): void;
  zoomTo(entity: number, animate?: boolean): void;
  zoom(factor: number): void;
  actualSize(): void;
  readonly camera: ICamera;
  setCamera(camera: ICamera, animate?: boolean): void;
  focus(): void;
  dispose(): void;
}
