/** Replaces the drawing surface, which needs a real browser, and records the calls. */

import type { ITraceHighlight } from '../../core/trace/traceHighlight';
import type { IScene } from '../../core/types';
import type { ICamera, IOverlay, ISurfaceCallbacks } from '../graph/surfaceApi';
import type { ISurfaceOptions } from '../graph/surface';

export class FakeSurface {
  /** The last surface created. */
  static last: FakeSurface | null = null;

  scene: IScene | null = null;
  overlay: IOverlay | null = null;
  selection: readonly number[] = [];
  tensors: readonly number[] = [];
  hits: readonly number[] = [];
  hit: number | null = null;
  /** Entities that were centred, oldest first. */
  readonly zoomed: number[] = [];
  fitCalls = 0;
  highlight: ITraceHighlight | null = null;
  fittedTo: readonly number[] = [];
  disposed = false;
  /** Nothing is in view. */
  readonly view = { w: 0, h: 0 };
  /** Nothing is drawn. */
  readonly renderer = { drawing: null, index: null };
  camera: ICamera = { x: 0, y: 0, k: 1 };
  readonly callbacks: Partial<ISurfaceCallbacks>;

  constructor(
    readonly host: HTMLElement,
    options: ISurfaceOptions = {}
  ) {
    this.callbacks = options.callbacks ?? {};
    FakeSurface.last = this;
  }

  get root(): HTMLElement {
    return this.host;
  }

  /** Keys that no action took. */
  press(): void {}
  setScene(scene: IScene): void {
    this.scene = scene;
  }
  setOverlay(overlay: IOverlay | null): void {
    this.overlay = overlay;
  }
  setSelection(entities: readonly number[]): void {
    this.selection = entities;
  }
  setTensors(tensors: readonly number[]): void {
    this.tensors = tensors;
  }
  setTraceHighlight(highlight: ITraceHighlight | null): void {
    this.highlight = highlight;
  }
  fitEntities(entities: readonly number[]): void {
    this.fittedTo = entities;
  }
  setHighlights(entities: readonly number[], hit: number | null = null): void {
    this.hits = entities;
    this.hit = hit;
  }
  setDetails(): void {
    // Sizes are irrelevant here.
  }
  setTheme(): void {
    // There are no colours here.
  }
  fit(): void {
    this.fitCalls++;
  }
  zoomTo(entity: number): void {
    this.zoomed.push(entity);
  }
  zoom(factor: number): void {
    this.camera = { ...this.camera, k: this.camera.k * factor };
  }
  actualSize(): void {
    this.camera = { ...this.camera, k: 1 };
  }
  home(): void {
    // The camera is not checked.
  }

  setCamera(camera: ICamera): void {
    this.camera = camera;
  }
  focus(): void {
    // There is nothing to focus.
  }
  dispose(): void {
    this.disposed = true;
  }
}

/** The last surface created; throws if there is none. */
export function surface(): FakeSurface {
  if (FakeSurface.last === null) {
    throw new Error('No surface was made.');
  }
  return FakeSurface.last;
}
