/** Creates and disposes the drawing surface; keeps its host, settings and camera. */

import type { IPane } from '../../core/types';
import type { IViewerSettings } from '../state/api';
import type {
  ICamera,
  ICardDetails,
  ISurfaceCallbacks,
  ISurfaceStrings
} from '../graph/surfaceApi';
import { CornerDocks } from '../graph/viewport/cornerDocks';
import { GraphSurface } from '../graph/surface';

/** Size assumed for a pane that is not on the screen yet. */
const DEFAULT_PANE: IPane = { w: 900, h: 600 };
/** Milliseconds within which a view is mounted, if at all. */
const MOUNT_TIMEOUT_MS = 100;

export class SurfaceHost {
  /** Positions of legend and minimap, shared by all surfaces. */
  readonly docks = new CornerDocks();
  private _surface: GraphSurface | null = null;
  private _host: HTMLElement | null = null;
  private _strings: Partial<ISurfaceStrings> = {};
  private _camera: ICamera | null = null;
  private _onHost: (() => void) | null = null;

  constructor(
    private _settings: IViewerSettings,
    private readonly _callbacks: ISurfaceCallbacks
  ) {}

  get surface(): GraphSurface | null {
    return this._surface;
  }

  get settings(): IViewerSettings {
    return this._settings;
  }

  /** The camera of the surface, or the last one if there is no surface. */
  get camera(): ICamera | null {
    return this._surface?.camera ?? this._camera;
  }

  /** Creates a surface in `host`, or in the previous host. */
  attach(
    details: ICardDetails,
    host = this._host,
    strings = this._strings
  ): void {
    this.detach();
    this._host = host;
    this._strings = strings;
    if (host) {
      this._onHost?.();
      const { minimap, wheel } = this._settings;
      const callbacks = this._callbacks;
      const { docks } = this;
      const options = { callbacks, docks, strings, details, minimap, wheel };
      this._surface = new GraphSurface(host, options);
    }
  }

  detach(): void {
    this._camera = this.camera;
    this._surface?.dispose();
    this._surface = null;
  }

  /** Sets the camera now, or once there is a surface: a graph may be laid out before. */
  setCameraWhenReady(camera: ICamera | null): void {
    if (!this._surface) {
      this._camera = camera;
    } else if (camera) {
      this._surface.setCamera(camera, false);
    }
  }

  /** Applies settings; returns true if they need a new surface. */
  setSettings(settings: IViewerSettings): boolean {
    const { minimap, wheel } = this._settings;
    this._settings = settings;
    const other = minimap !== settings.minimap || wheel !== settings.wheel;
    return other && this._surface !== null;
  }

  /** Resolves when there is a host to measure, or after a timeout. */
  async whenHosted(): Promise<void> {
    if (!this._host) {
      await new Promise<void>(resolve => {
        this._onHost = resolve;
        setTimeout(resolve, MOUNT_TIMEOUT_MS);
      });
    }
  }

  /** Size of the pane for the graph. */
  pane(): IPane {
    const { clientWidth, clientHeight } = this._host ?? {};
    return {
      w: clientWidth || DEFAULT_PANE.w,
      h: clientHeight || DEFAULT_PANE.h
    };
  }

  /** Width of the whole viewer; 0 while there is none. */
  viewerWidth(): number {
    return this._host?.closest('.oad-Viewer')?.clientWidth ?? 0;
  }

  /** Resolves when the pane has the size that the state gives it. */
  async whenResized(): Promise<void> {
    await new Promise<void>(resolve => {
      // A page in the background has no frames.
      setTimeout(resolve, MOUNT_TIMEOUT_MS);
      requestAnimationFrame(() => setTimeout(resolve));
    });
  }

  /** Exposes the scene's version to tests and benchmarks. */
  markSceneVersion(version: number): void {
    if (this._host) {
      this._host.dataset.sceneVersion = String(version);
    }
  }
}
