/** The drawing surface's coming and going: where it stands, what it is made with, the camera it leaves. */

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
import type { LegendCorner } from './legendCorner';

/** A pane that is not on the screen yet. */
const USUAL_PANE: IPane = { w: 900, h: 600 };
/** Milliseconds in which a view gets its place on the screen, if it gets one at all. */
const MOUNT_TIMEOUT_MS = 100;

export class SurfaceHost {
  /** Where legend and overview stand; the same for every surface. */
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

  /** That of the surface, or what the last one left. */
  get camera(): ICamera | null {
    return this._surface?.camera ?? this._camera;
  }

  /** Makes a surface in `host`, or where the last one was. */
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

  /** Looks there, or will when there is a surface: a picture may be laid out before there is one. */
  setCameraWhenReady(camera: ICamera | null): void {
    if (!this._surface) {
      this._camera = camera;
    } else if (camera) {
      this._surface.setCamera(camera, false);
    }
  }

  /** Takes other settings; true when another surface must be made for them. */
  setSettings(settings: IViewerSettings): boolean {
    const { minimap, wheel } = this._settings;
    this._settings = settings;
    const other = minimap !== settings.minimap || wheel !== settings.wheel;
    return other && this._surface !== null;
  }

  /** Resolves when there is a place to measure, or none comes with the document. */
  async whenHosted(): Promise<void> {
    if (!this._host) {
      await new Promise<void>(done => {
        this._onHost = done;
        setTimeout(done, MOUNT_TIMEOUT_MS);
      });
    }
  }

  /** The place for a picture. */
  pane(): IPane {
    const { clientWidth, clientHeight } = this._host ?? {};
    return {
      w: clientWidth || USUAL_PANE.w,
      h: clientHeight || USUAL_PANE.h
    };
  }

  /** Says in which corner the legend stands; the style sheet puts it there. */
  placeLegend(corner: LegendCorner): void {
    if (this._host) {
      this._host.dataset.legend = corner;
    }
  }

  /** Says which picture is there, for tests and benchmarks. */
  markSceneVersion(version: number): void {
    if (this._host) {
      this._host.dataset.sceneVersion = String(version);
    }
  }
}
