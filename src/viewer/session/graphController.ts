/** Connects the state with the graph: owns the graph view and controls the drawing surface. */

import type { ILayoutEngine } from '../../core/layout/engine/layoutEngine';
import { isDrawn } from '../../core/tree/hiddenEntities';
import type { IGraphView, IPane, IRowWidth, IScene } from '../../core/types';
import type { IViewerSettings } from '../state/api';
import type {
  ICamera,
  ICardDetails,
  ISurfaceCallbacks,
  ISurfaceStrings
} from '../graph/surfaceApi';
import type { CornerDocks } from '../graph/viewport/cornerDocks';
import { createSizer } from '../graph/cards/cardSizer';
import type { GraphSurface } from '../graph/surface';
import { visibleEntities } from '../overlays/computeOverlay';
import type { IStore } from '../state/store';
import type { IDocument, IViewerState } from '../state/types';
import { fitModelPanel } from './fitModelPanel';
import { SurfaceHost } from './surfaceHost';
import { entityOf, sameList } from './entityNames';
import { SelectionFollower } from './selectionFollower';
import { LayoutProgress } from './layoutProgress';
import {
  type ChangedPredicate,
  COLOR_STATE_KEYS,
  syncColors,
  syncMarks
} from './syncSurface';
import { type IShowOptions, createView } from './createView';

export class GraphController {
  private readonly _surfaceHost: SurfaceHost;
  private _view: IGraphView | null = null;
  private _document: IDocument | null = null;
  private _syncedState: IViewerState | null = null;
  /** The state that the current colours were computed for. */
  private _coloredState: IViewerState | null = null;
  private _open: { scene: IScene | null; groups: readonly number[] } = {
    scene: null,
    groups: []
  };
  private _directionApplied: Promise<void> = Promise.resolve();
  /** The current heatmap, and the boxes whose values determine its colours. */
  private _scaled: {
    readonly overlay: IViewerState['overlay'];
    readonly entities: readonly number[];
  } | null = null;
  private readonly _selectionFollower = new SelectionFollower(this);
  /** Tracks long layouts. */
  readonly layoutProgress: LayoutProgress;
  private readonly _unsubscribe: () => void;

  constructor(
    private readonly _store: IStore<IViewerState>,
    settings: IViewerSettings,
    callbacks: ISurfaceCallbacks,
    /** Called after other boxes were drawn. */
    private readonly _onScene: () => void,
    private readonly _makeEngine?: () => ILayoutEngine
  ) {
    this._surfaceHost = new SurfaceHost(settings, callbacks);
    this.layoutProgress = new LayoutProgress(_store);
    this._unsubscribe = _store.subscribe(() => this._sync());
  }

  get surface(): GraphSurface | null {
    return this._surfaceHost.surface;
  }

  get docks(): CornerDocks {
    return this._surfaceHost.docks;
  }

  get camera(): ICamera | null {
    return this._surfaceHost.camera;
  }

  /** The open groups; the same list as long as the scene is the same. */
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

  /** Rows of the graph; null if it has a single row. */
  get rows(): IRowWidth | null {
    return this._view?.rows ?? null;
  }

  /** Applies settings; recreates the surface if they require it. */
  setSettings(settings: IViewerSettings): void {
    if (this._surfaceHost.setSettings(settings)) {
      this.attach();
    }
  }

  /** Starts drawing into `host`, or continues in the previous one. */
  attach(host?: HTMLElement, strings?: Partial<ISurfaceStrings>): void {
    this.detach();
    const { camera } = this;
    this._surfaceHost.attach(this._details(), host, strings);
    this._draw({ keepCamera: false });
    if (camera && this._view) {
      this.surface?.setCamera(camera, false);
    }
  }

  detach(): void {
    this._surfaceHost.detach();
    this._syncedState = null;
  }

  dispose(): void {
    this._unsubscribe();
    this.detach();
    this.layoutProgress.end();
    this._view?.dispose();
    this._view = null;
  }

  /** Opens the groups of the initial view: as many as are readable in the pane. */
  openInitial(view: IGraphView): Promise<IScene> {
    return this._openInitialIn(view, this._surfaceHost.pane());
  }

  /** Lays out and draws a document. */
  async show(document: IDocument, options: IShowOptions = {}): Promise<void> {
    this._view?.dispose();
    const view = createView(
      document,
      createSizer,
      this._details(),
      this._store.get().direction,
      this._makeEngine?.()
    );
    this._view = view;
    if (document !== this._document) {
      this._scaled = null;
    }
    this._document = document;
    const { open, hidden, rows } = options;
    const work = async (): Promise<IScene> => {
      if (open && rows !== undefined) {
        return view.restore(open, hidden, rows);
      }
      await this._surfaceHost.whenHosted();
      // Groups opened in the meantime were requested by the user.
      const groups = open ?? view.openGroups();
      if (!open && groups.length === 0) {
        return this.openInitial(view);
      }
      void view.restore(groups, open ? hidden : view.hidden());
      return this._flow(view);
    };
    const first = (): Promise<IScene> => this.openInitial(view);
    const showFirst = (): void => void this.transition(first);
    await this.layoutProgress.track(view, work, showFirst);
    if (!open && hidden?.length) {
      await view.setHidden(hidden);
    }
    if (this._view !== view) {
      return;
    }
    await fitModelPanel({
      view,
      store: this._store,
      host: this._surfaceHost,
      open: pane => this._openInitialIn(view, pane),
      openInitial: open
        ? null
        : () => this.layoutProgress.track(view, first, showFirst)
    });
    if (this._view !== view) {
      return;
    }
    if (this._store.get().outlineOpen.size === 0) {
      // The outline is initially expanded like the graph.
      this._store.set({ outlineOpen: new Set(view.openGroups()) });
    }
    this._draw({ keepCamera: false });
    this._surfaceHost.setCameraWhenReady(options.camera ?? null);
  }

  /** Updates the numbers of the current document, at once if no box has to move; the camera stays. */
  async updateNumbers(document: IDocument): Promise<void> {
    const view = this._view;
    if (view === null || this._document === null) {
      return this.show(document);
    }
    const { scene } = view;
    const { model, tree } = document;
    const sizer = createSizer(model, tree, this._details());
    this._document = document;
    const latest = view.updateNumbers(tree, sizer);
    this._draw({ keepsCenter: true });
    await latest;
    if (this._view === view && view.scene !== scene) {
      this._draw({ keepsCenter: true });
    }
  }

  /**
   * Opens or closes groups; the box of `anchor` stays in place. With `readable`, the camera shows the
   * whole graph, or its previous centre at a readable zoom.
   */
  async transition(
    work: (view: IGraphView) => Promise<IScene>,
    anchor?: number,
    readable = false
  ): Promise<void> {
    const view = this._view;
    if (view === null) {
      return;
    }
    const before = view.scene;
    const open = this.openGroups();
    const hidden = view.hidden();
    const { flow, rows } = view;
    const undo = (): void => {
      this._store.set({ direction: flow });
      void this.transition(() => view.restore(open, hidden, rows));
    };
    const last = await this.layoutProgress.track(view, () => work(view), undo);
    if (last && this._view === view && view.scene !== before) {
      this._draw({ animateFrom: before, anchorEntity: anchor, readable });
    }
  }

  /** The boxes whose values determine the colours: those shown when the heatmap was chosen. */
  get scaled(): readonly number[] | null {
    return this._scaled?.entities ?? null;
  }

  /** Computes the colour range from the visible boxes again. */
  rescale(): void {
    this._scaled = null;
    this._paint();
  }

  /** Resolves when the layout has the direction of the state. */
  whenDirectionApplied(): Promise<void> {
    return this._directionApplied;
  }

  /** Opens the groups that hide the entity and centres it. */
  async reveal(entity: number): Promise<void> {
    this._selectionFollower.willCenterOn(entity);
    const { hidden } = this._store.get();
    const isOpen = (group: number): boolean => this.isOpen(group);
    const tree = this._document?.tree;
    if (tree && !isDrawn(tree, entity, hidden, isOpen)) {
      await this.transition(view => view.reveal(entity));
    }
    this.focusOn(entity);
  }

  /** Centres the entity, or the collapsed group that contains it. */
  focusOn(entity: number): void {
    this._selectionFollower.centerOn(entity);
  }

  /** Width in pixels covered by panels: positive on the right, negative on the left. */
  setOccludedWidth(pixels: number): void {
    this._selectionFollower.setOccludedWidth(pixels);
  }

  /** Called when the middle of the view moved by some pixels because a panel opened or closed. */
  onPaneShift(pixels: number): void {
    this._selectionFollower.onPaneShift(pixels);
  }

  /** Called when the theme's colours have changed. */
  setTheme(dark: boolean): void {
    this.surface?.setTheme();
    this._store.set({ dark });
  }

  /** The selected node or group. */
  selected(): number | null {
    const { selection } = this._store.get();
    return this._document && entityOf(this._document.model, selection);
  }

  private _openInitialIn(view: IGraphView, pane: IPane): Promise<IScene> {
    const { boxBudget } = this._surfaceHost.settings;
    return view.openInitialIn(boxBudget, this._store.get().direction, pane);
  }

  /** Lays out the open groups as set in the state. */
  private _flow(view: IGraphView): Promise<IScene> {
    return view.setFlow(this._store.get().direction, this._surfaceHost.pane());
  }

  private _details(): ICardDetails {
    const { showNames, showWeights } = this._store.get();
    return { names: showNames, weights: showWeights, costs: true };
  }

  private _draw(options: Parameters<GraphSurface['setScene']>[3]): void {
    if (!this.surface || !this._view || !this._document) {
      return;
    }
    const { model, tree } = this._document;
    const hidden = this._view.hidden();
    if (!sameList(hidden, this._store.get().hidden)) {
      this._store.set({ hidden });
    }
    // Colours first: the new boxes are then drawn once, in their final colours.
    this._paint();
    this.surface.setScene(this._view.scene, model, tree, options);
    if (this._view.scene.version > 0) {
      // Until something is laid out, the scene is empty.
      this._surfaceHost.markSceneVersion(this._view.scene.version);
    }
    this._syncedState = null;
    this._sync();
    this._onScene();
  }

  /** Applies changes of the state to the surface. */
  private _sync(): void {
    const surface = this.surface;
    const state = this._store.get();
    const before = this._syncedState;
    if (!surface || !this._document || state.document !== this._document) {
      return;
    }
    this._syncedState = state;
    const changed: ChangedPredicate = (...keys) =>
      before === null || keys.some(key => before[key] !== state[key]);
    const scene = this._view?.scene ?? null;
    syncMarks(surface, this._document, scene, state, changed);
    // Not compared with the synced state: new numbers are coloured before the state changes.
    if (
      COLOR_STATE_KEYS.some(key => this._coloredState?.[key] !== state[key])
    ) {
      this._paint();
    }
    if (before !== null && changed('showNames', 'showWeights')) {
      this._resize();
    }
    if (this._view && this._view.flow !== state.direction) {
      const anchor = this.selected() ?? undefined;
      // Rows are chosen so that the whole graph is readable.
      const readable =
        state.direction === 'auto' || state.direction === 'wrapped';
      this._directionApplied = this.transition(
        view => this._flow(view),
        anchor,
        readable
      );
    }
  }

  /** The contents of cards have changed: lays the same groups out again. */
  private _resize(): void {
    const document = this._document;
    const open = this.openGroups();
    const { hidden } = this._store.get();
    const camera = this.camera ?? undefined;
    this.surface?.setDetails(this._details());
    if (document) {
      void this.show(document, { open, camera, hidden, rows: this.rows });
    }
  }

  private _paint(): void {
    const scene = this._view?.scene ?? null;
    const state = this._store.get();
    this._coloredState = state;
    const { overlay } = state;
    if (this._scaled?.overlay !== overlay || !scene) {
      const entities = overlay && scene ? visibleEntities(scene) : [];
      this._scaled = entities.length > 0 ? { overlay, entities } : null;
    }
    const overlayRange = syncColors(
      this.surface,
      this._document,
      scene,
      state,
      this.scaled
    );
    this._store.set({ overlayRange });
  }
}
