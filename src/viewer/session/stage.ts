/** Between the state and the picture: owns the graph view and drives the drawing surface. */

import type { ILayoutEngine } from '../../core/layout/engine';
import { withAncestors } from '../../core/hidden';
import { litOf } from '../../core/lit';
import { tensorsOf } from '../../core/series';
import type { IGraphView, IScene } from '../../core/types';
import type { IViewerSettings } from '../api';
import type { ICamera, ICardDetails, ISurfaceCallbacks } from '../graph/api';
import type { ISurfaceStrings } from '../graph/api';
import { HOME_ZOOM } from '../graph/camera';
import { createSizer } from '../graph/measure';
import { GraphSurface } from '../graph/surface';
import { OVERLAYS } from '../overlays';
import { paintedOverlay } from '../overlays/painted';
import type { IStore } from '../state/store';
import type { IDocument, IViewerState } from '../state/types';
import { entityOf, sameList } from './entities';
import { makeView } from './view';

/** Pixels of a pane that is not on the screen yet. */
const USUAL_PANE = 900;

/** How a document is first shown. */
export interface IShowOptions {
  /** Groups to open; the view's own choice when absent. */
  readonly open?: readonly number[];
  readonly camera?: ICamera;
  /** Entities to leave out. */
  readonly hidden?: readonly number[];
}

export class Stage {
  private _surface: GraphSurface | null = null;
  private _host: HTMLElement | null = null;
  private _strings: Partial<ISurfaceStrings> = {};
  private _view: IGraphView | null = null;
  private _document: IDocument | null = null;
  private _drawn: IViewerState | null = null;
  private _camera: ICamera | null = null;
  private _open: { scene: IScene | null; groups: readonly number[] } = {
    scene: null,
    groups: []
  };
  private _turned: Promise<void> = Promise.resolve();
  private _covered = 0;
  /** The entity that the view was moved to last. */
  private _followed: number | null = null;
  private readonly _unsubscribe: () => void;

  /** Set by the owner; called after other boxes have been drawn. */
  onPicture: (() => void) | null = null;

  constructor(
    private readonly _store: IStore<IViewerState>,
    private _settings: IViewerSettings,
    private readonly _callbacks: ISurfaceCallbacks,
    private readonly _makeEngine?: () => ILayoutEngine
  ) {
    this._unsubscribe = _store.subscribe(() => this._sync());
  }

  get surface(): GraphSurface | null {
    return this._surface;
  }

  get camera(): ICamera | null {
    return this._surface?.camera ?? this._camera;
  }

  /** Groups that are open now; the same list while the picture is the same. */
  openGroups(): readonly number[] {
    const scene = this._view?.scene ?? null;
    if (this._open.scene !== scene) {
      this._open = { scene, groups: this._view?.openGroups() ?? [] };
    }
    return this._open.groups;
  }

  isOpen(group: number): boolean {
    return this._view?.isOpen(group) ?? false;
  }

  /** Takes other settings; the surface is made anew where it is another one with them. */
  setSettings(settings: IViewerSettings): void {
    const { minimap, wheel } = this._settings;
    this._settings = settings;
    const other = minimap !== settings.minimap || wheel !== settings.wheel;
    if (other && this._host && this._surface) {
      this.attach(this._host, this._strings);
    }
  }

  /** Starts drawing into `host`. */
  attach(host: HTMLElement, strings: Partial<ISurfaceStrings>): void {
    this.detach();
    this._host = host;
    this._strings = strings;
    this._surface = new GraphSurface(host, {
      callbacks: this._callbacks,
      strings,
      details: this._details(),
      minimap: this._settings.minimap,
      wheel: this._settings.wheel
    });
    const camera = this._camera;
    this._draw({ keepCamera: false });
    if (camera && this._view) {
      this._surface.setCamera(camera, false);
    }
  }

  detach(): void {
    this._camera = this.camera;
    this._surface?.dispose();
    this._surface = null;
    this._drawn = null;
  }

  dispose(): void {
    this._unsubscribe();
    this.detach();
    this._view?.dispose();
    this._view = null;
  }

  /** Opens what a reader sees first: as much as has room in the pane at a zoom that can be read. */
  home(view: IGraphView): Promise<IScene> {
    const { clientWidth, clientHeight } = this._host ?? {};
    const pane = view.direction === 'down' ? clientHeight : clientWidth;
    const length = (pane || USUAL_PANE) / HOME_ZOOM;
    return view.initial(this._settings.boxBudget, length);
  }

  /** Lays out and draws a document. */
  async show(document: IDocument, how: IShowOptions = {}): Promise<void> {
    this._view?.dispose();
    const view = makeView(
      document,
      createSizer,
      this._details(),
      this._store.get().direction,
      this._makeEngine?.()
    );
    this._view = view;
    this._document = document;
    const { open, hidden } = how;
    await (open ? view.restore(open, hidden) : this.home(view));
    if (!open && hidden?.length) {
      await view.setHidden(hidden);
    }
    if (this._view !== view) {
      return;
    }
    if (this._store.get().outlineOpen.size === 0) {
      // The outline begins at the altitude of the picture.
      this._store.set({ outlineOpen: new Set(view.openGroups()) });
    }
    this._draw({ keepCamera: false });
    if (how.camera) {
      this._surface?.setCamera(how.camera, false);
    }
  }

  /**
   * Draws other numbers of the document on screen. Boxes that still fit what stands on them stay where
   * they are, and so does the camera. Draws at once when no box has to move.
   */
  async renumber(document: IDocument): Promise<void> {
    const view = this._view;
    if (view === null || this._document === null) {
      return this.show(document);
    }
    const { scene } = view;
    const { model, tree } = document;
    const sizer = createSizer(model, tree, this._details());
    this._document = document;
    const latest = view.renumber(tree, sizer);
    this._draw({});
    await latest;
    if (this._view === view && view.scene !== scene) {
      this._draw({});
    }
  }

  /** Opens or closes groups; the box of `anchor` stays where it is. */
  async change(
    work: (view: IGraphView) => Promise<IScene>,
    anchor?: number
  ): Promise<void> {
    const view = this._view;
    if (view === null) {
      return;
    }
    const before = view.scene;
    await work(view);
    if (this._view === view && view.scene !== before) {
      this._draw({ animateFrom: before, anchorEntity: anchor });
    }
  }

  /** Resolves when the picture flows the way that the state says. */
  settled(): Promise<void> {
    return this._turned;
  }

  /** Opens what hides the entity and brings it to the middle. */
  async reveal(entity: number): Promise<void> {
    this._followed = entity;
    if (this._isHidden(entity)) {
      await this.change(view => view.reveal(entity));
    }
    this.focusOn(entity);
  }

  /** Brings the entity, or the closed group that holds it, to the middle. */
  focusOn(entity: number): void {
    this._followed = entity;
    const surface = this._surface;
    if (!surface) {
      return;
    }
    if (this._covered === 0) {
      surface.zoomTo(entity, true);
      return;
    }
    // The middle of the part that no panel lies over.
    const from = surface.camera;
    surface.zoomTo(entity, false);
    const to = surface.camera;
    surface.setCamera(from, false);
    const x = to.x + this._covered / 2 / to.k;
    surface.setCamera({ ...to, x }, true);
  }

  /** How many pixels panels cover: positive on the right, negative on the left. */
  setCovered(pixels: number): void {
    const changed = pixels !== this._covered;
    this._covered = pixels;
    const entity = this._selected();
    if (changed && pixels !== 0 && entity !== null) {
      this.focusOn(entity);
    }
  }

  /**
   * The middle of the view moved by so many pixels because a panel opened or closed: the picture
   * stays where it is on the screen, so that the second click of a double click meets its box. What
   * was just brought to the middle stays there.
   */
  shift(pixels: number): void {
    const surface = this._surface;
    const entity = this._selected();
    if (entity !== null && entity === this._followed) {
      this.focusOn(entity);
    } else if (surface) {
      const { x, y, k } = surface.camera;
      surface.setCamera({ x: x + pixels / k, y, k }, false);
    }
  }

  /** Colours of the theme have changed. */
  setTheme(dark: boolean): void {
    this._surface?.setTheme();
    this._store.set({ dark });
  }

  private _selected(): number | null {
    return this._document
      ? entityOf(this._document.model, this._store.get().selection)
      : null;
  }

  private _isHidden(entity: number): boolean {
    const tree = this._document?.tree;
    if (!tree) {
      return false;
    }
    const { nodeCount } = tree.model;
    const [own, ...around] = withAncestors(tree, entity);
    const gone = new Set(this._store.get().hidden);
    return (
      gone.has(own) ||
      around.some(one => gone.has(one) || !this.isOpen(one - nodeCount))
    );
  }

  private _details(): ICardDetails {
    const { showNames, showWeights } = this._store.get();
    return { names: showNames, weights: showWeights, costs: true };
  }

  private _draw(how: {
    animateFrom?: IScene;
    anchorEntity?: number;
    keepCamera?: boolean;
  }): void {
    if (!this._surface || !this._view || !this._document) {
      return;
    }
    const { model, tree } = this._document;
    const hidden = this._view.hidden();
    if (!sameList(hidden, this._store.get().hidden)) {
      this._store.set({ hidden });
    }
    // Colours first: the new boxes are then drawn once, in their final colours.
    this._paint();
    this._surface.setScene(this._view.scene, model, tree, how);
    if (this._host) {
      // For tests and benchmarks: which picture is there.
      this._host.dataset.drawn = String(this._view.scene.version);
    }
    this._drawn = null;
    this._sync();
    this.onPicture?.();
  }

  /** Pushes what changed in the state to the surface. */
  private _sync(): void {
    const surface = this._surface;
    const state = this._store.get();
    const before = this._drawn;
    if (!surface || !this._document || state.document !== this._document) {
      return;
    }
    this._drawn = state;
    const changed = (...keys: (keyof IViewerState)[]): boolean =>
      before === null || keys.some(key => before[key] !== state[key]);
    if (changed('selection', 'also')) {
      const entity = entityOf(this._document.model, state.selection);
      surface.setSelection([
        ...(entity === null ? [] : [entity]),
        ...state.also
      ]);
      const { series } = this._document.tree;
      surface.setTensors(tensorsOf(series, state.selection));
    }
    if (changed('trace')) {
      this._light(state);
    }
    if (changed('search', 'pointed')) {
      const { pointed } = state;
      const { hits, at } = state.search;
      if (pointed.length > 0) {
        surface.setHighlights(pointed, pointed.length > 1 ? null : pointed[0]);
      } else {
        surface.setHighlights(hits, hits[at] ?? null);
      }
    }
    if (
      before !== null &&
      changed('overlay', 'userValues', 'scale', 'scaleWith', 'brush', 'dark')
    ) {
      this._paint();
    }
    if (before !== null && changed('showNames', 'showWeights')) {
      this._resize();
    }
    if (this._view && this._view.direction !== state.direction) {
      const anchor = this._selected() ?? undefined;
      this._turned = this.change(
        view => view.setDirection(state.direction),
        anchor
      );
    }
  }

  /** Dims what does not belong to the trace. */
  private _light({ trace }: IViewerState): void {
    const scene = this._view?.scene;
    const lit =
      trace && scene && this._document
        ? litOf(this._document.tree, scene, trace.trace)
        : null;
    this._surface?.setLit(lit);
  }

  /** Cards changed their contents: lay the same groups out again. */
  private _resize(): void {
    const document = this._document;
    const open = this.openGroups();
    const { hidden } = this._store.get();
    const camera = this.camera ?? undefined;
    this._surface?.setDetails(this._details());
    if (document) {
      void this.show(document, { open, camera, hidden });
    }
  }

  /** Values of the visible cards decide the range, so that contrasts show at every level. */
  private _paint(): void {
    const { overlay, scale, brush, dark, scaleWith } = this._store.get();
    const scene = this._view?.scene;
    if (!overlay || !scene || !this._document) {
      this._surface?.setOverlay(null);
      this._store.set({ range: null });
      return;
    }
    const { tree } = this._document;
    const look = { scale, dark, brush, with: scaleWith };
    const painted = paintedOverlay(OVERLAYS[overlay], scene, tree, look);
    this._surface?.setOverlay(painted.overlay);
    this._store.set({ range: painted.range });
  }
}
