/** The drawing surface: a scene in a host element, controlled imperatively. */
import type { ITraceHighlight } from '../../core/trace/traceHighlight';
import type { IGraphModel, IScene, ITree } from '../../core/types';
import { groupAnnouncement } from './a11y/groupAnnouncement';
import {
  DEFAULT_DETAILS,
  DEFAULT_STRINGS,
  type ICamera,
  type ICardDetails,
  type IHitTarget,
  type IOverlay,
  type ISetSceneOptions,
  type ISurfaceCallbacks,
  type ISurfaceStrings
} from './surfaceApi';
import {
  boxRect,
  type IPoint,
  type IViewSize,
  sameCamera
} from './geometry/camera';
import { CornerDocks } from './viewport/cornerDocks';
import { DrawContextFactory } from './draw/drawContextFactory';
import { entityAt, ownBox, isPill } from './scene/entityBoxes';
import type { SpatialIndex } from './scene/spatialIndex';
import { CameraController } from './viewport/cameraController';
import { InteractionController } from './input/interactionController';
import type { SceneAdjacency } from './scene/sceneAdjacency';
import { DecorationModel } from './render/svg/decorationModel';
import { Minimap } from './render/minimap';
import { MotionTracker } from './viewport/cameraAnimation';
import { boxDescription, tensorTooltip } from './a11y/accessibleNames';
import type { IDrawContext } from './draw/drawTarget';
import { Renderer } from './render/renderer';
import { SurfaceDom } from './render/surfaceDom';
import { invalidatePageFont } from './text/textMeasure';
import { prefersReducedMotion } from './style/themePalette';
import type { IInteractionHost } from './input/interactionHost';

export * from './surfaceApi';

/** Draws scenes; the host needs a size. Does not throw on empty scenes or hidden hosts. */
export class GraphSurface implements IInteractionHost {
  readonly callbacks: Partial<ISurfaceCallbacks>;
  private readonly _strings: ISurfaceStrings;
  private readonly _dom: SurfaceDom;
  readonly renderer: Renderer;
  private readonly _minimap: Minimap | null;
  private readonly _docks: CornerDocks;
  private readonly _undock: () => void;
  private readonly _interaction: InteractionController;
  private readonly _cameraController: CameraController;
  private readonly _decorations = new DecorationModel(() => this._schedule());
  private readonly _reducesMotion: () => boolean;
  private readonly _contexts: DrawContextFactory;
  private _cursor = -1;
  private _request = 0;
  private readonly _motion = new MotionTracker(moving => {
    if (moving) {
      this._dom.root.classList.add('oad-moving');
    }
    this._schedule();
  });
  private _reportedCamera: ICamera | null = null;

  constructor(host: HTMLElement, options: ISurfaceOptions = {}) {
    invalidatePageFont();
    this.callbacks = options.callbacks ?? {};
    this._strings = { ...DEFAULT_STRINGS, ...options.strings };
    const details = options.details ?? DEFAULT_DETAILS;
    this._contexts = new DrawContextFactory(details, this._strings);
    this._reducesMotion = () => options.reducedMotion ?? prefersReducedMotion();
    this._dom = new SurfaceDom(host, this._strings, () => this._resized());
    this._minimap =
      options.minimap === false
        ? null
        : new Minimap(
            p => this.move({ ...this.camera, ...p }),
            this._strings.overview
          );
    this.renderer = new Renderer(this._dom, this._minimap, this._strings);
    this._docks = options.docks ?? new CornerDocks();
    this._undock = this._minimap
      ? this._docks.add(this._minimap)
      : () => undefined;
    const onMove = (): void => {
      this._motion.noteMotion();
      this._schedule();
    };
    this._cameraController = new CameraController(
      this,
      onMove,
      this._reducesMotion
    );
    this._interaction = new InteractionController(
      this,
      () => options.wheel === 'zoom'
    );
  }

  /**
   * Shows a scene. The first one is fitted; later ones keep the camera, or keep `anchorEntity` in place.
   */
  setScene(
    scene: IScene,
    model: IGraphModel,
    tree: ITree,
    options: ISetSceneOptions = {}
  ): void {
    const before = this.scene
      ? { scene: this.scene, camera: this.camera }
      : null;
    // The cursor moves from a card to the group expanded from its chip, and back.
    const { anchorEntity: anchor = -1 } = options;
    const followsAnchor =
      this._cursor >= 0 && this.scene?.boxOf(anchor) === this._cursor;
    const entity = followsAnchor
      ? anchor
      : this.scene && entityAt(this.scene, this._cursor);
    this.renderer.setDrawing(this._contexts.of(scene, model, tree));
    this._cursor =
      entity === null
        ? -1
        : followsAnchor
          ? scene.boxOf(entity)
          : ownBox(scene, entity);
    this.renderer.svg.setCursor(this._cursor);
    const ringed =
      this._decorations.decorations.cursor >= 0 ? this._cursor : -1;
    this._decorations.onSceneChange(scene, ringed);
    // Its target may be gone; the next pointer move sets a new tooltip.
    this._dom.setTooltip(null);
    this._cameraController.onSceneChange(before, scene, options, entity);
    this._frame();
    if (before && options.animateFrom && !this._reducesMotion()) {
      this.renderer.animateBoxes(
        { scene: options.animateFrom, camera: before.camera },
        this.camera
      );
    }
    const { drawing } = this.renderer;
    this._dom.announce(
      groupAnnouncement(drawing, options.anchorEntity, this._strings)
    );
  }

  setOverlay(overlay: IOverlay | null): void {
    this._contexts.overlay = overlay;
    this._redraw();
  }

  /** Changes what cards show; lay out the scene again with a sizer for the same details. */
  setDetails(details: ICardDetails): void {
    this._contexts.setDetails(details);
    this._redraw();
  }

  /** Resolves the theme's colours again. */
  setTheme(): void {
    invalidatePageFont();
    this.renderer.setTheme();
    this._schedule();
  }

  setSelection(entities: readonly number[]): void {
    this._decorations.select(entities, this.scene);
  }

  /** Dims all but these boxes and wires of the current scene; null dims nothing. */
  setTraceHighlight(highlight: ITraceHighlight | null): void {
    this.renderer.setTraceHighlight(highlight);
    this._schedule();
  }

  /** Sets the tensors to highlight. */
  setTensors(tensors: readonly number[]): void {
    this._decorations.update({ tensors });
  }

  /**
   * Sets the search matches; `current` gets the stronger mark. A hidden match marks the group that hides
   * it.
   */
  setHighlights(
    entities: readonly number[],
    current: number | null = null
  ): void {
    this._decorations.highlight(entities, current, this.scene);
  }

  get camera(): ICamera {
    return this._cameraController.camera;
  }

  setCamera(camera: ICamera, animate = false): void {
    this._cameraController.moveTo(camera, animate);
  }

  /** Initial view: the whole graph, or its beginning. */
  home(): void {
    this._cameraController.home();
  }

  fit(animate = true): void {
    this._cameraController.fit(animate);
  }

  /** Centres the entity, or its closest visible ancestor, at a readable zoom. */
  zoomTo(entity: number, animate = true): void {
    this._cameraController.zoomTo(entity, animate);
  }

  /** Fits the entities, or the groups that hide them, into the view. */
  fitEntities(entities: readonly number[]): void {
    this._cameraController.fitEntities(entities);
  }

  zoom(factor: number): void {
    this.animateTo(this._cameraController.zoomed(factor));
  }

  actualSize(): void {
    this.animateTo({ ...this.camera, k: 1 });
  }

  focus(): void {
    this.renderer.focusBox(this._cursor);
  }

  /** Handles a key pressed while nothing in the graph had the focus. */
  press(event: KeyboardEvent): void {
    this._interaction.press(event);
  }

  dispose(): void {
    this._cameraController.stop();
    cancelAnimationFrame(this._request);
    this._motion.stop();
    this._interaction.dispose();
    this._undock();
    this._minimap?.dispose();
    this._dom.dispose();
  }

  get root(): HTMLElement {
    return this._dom.root;
  }

  get scene(): IScene | null {
    return this.renderer.scene;
  }

  get index(): SpatialIndex | null {
    return this.renderer.index;
  }

  get adjacency(): SceneAdjacency | null {
    return this.renderer.adjacency;
  }

  get drawing(): IDrawContext | null {
    return this.renderer.drawing;
  }

  get view(): IViewSize {
    return this._dom.size;
  }

  get cursor(): number {
    return this._cursor;
  }

  move(camera: ICamera): boolean {
    return this._cameraController.applyUserCamera(camera);
  }

  animateTo(camera: ICamera): void {
    this.setCamera(camera, true);
    const percent = Math.round(this._cameraController.clamped(camera).k * 100);
    this._dom.announce(`${this._strings.zoom} ${percent} %`);
  }

  setHover(box: number, target: IHitTarget): void {
    const { drawing } = this;
    if (this._decorations.setHover(box, target, drawing?.tree.series ?? null)) {
      // Entities have their own tooltip.
      const isTensor = drawing && target && target.kind !== 'entity';
      const hasTooltip = isTensor && !isPill(drawing.scene, box);
      this._dom.setTooltip(
        hasTooltip ? tensorTooltip(drawing, target, this._strings) : null
      );
    }
  }

  setCursor(box: number, byKey: boolean): void {
    this._cursor = box;
    this.renderer.svg.setCursor(box);
    this._decorations.update({ cursor: byKey ? box : -1 });
    this.callbacks.onRing?.(byKey ? box : -1);
    if (byKey && box >= 0) {
      this._cameraController.reveal(boxRect(this.scene!, box));
      this._frame();
      if (!this.renderer.focusBox(box) && this.renderer.drawing) {
        this._dom.announce(
          boxDescription(this.renderer.drawing, box, this._strings)
        );
      }
    }
  }

  showMarquee(from: IPoint, to: IPoint | null): void {
    this._dom.showMarquee(from, to);
  }

  titleShift(box: number): number {
    return this.renderer.svg.titleShift(box);
  }

  private _redraw(): void {
    const { drawing } = this;
    if (drawing) {
      const { scene, model, tree } = drawing;
      this.renderer.setDrawing(this._contexts.of(scene, model, tree));
      this._schedule();
    }
  }

  private _resized(): void {
    this.renderer.resized();
    this._cameraController.applyAutoCamera();
    this._schedule();
  }

  private _schedule(): void {
    if (!this._request) {
      this._request = requestAnimationFrame(() => this._frame());
    }
  }

  private _frame(): void {
    cancelAnimationFrame(this._request);
    this._request = 0;
    const { camera, _decorations: marks } = this;
    this.renderer.frame(
      camera,
      this.view,
      marks.decorations,
      marks.consumeChange(),
      this._motion.moving
    );
    if (!this._motion.moving) {
      // Only now: until it is painted at rest, the graph is moved as a whole.
      this._dom.root.classList.remove('oad-moving');
    }
    const { scene, view, index } = this;
    this._docks.follow(
      [scene, view.w, view.h, this._cameraController.autoMoves],
      () =>
        scene && index
          ? {
              scene,
              index,
              view,
              camera: this._cameraController.aim,
              labels: this.renderer.svg.labels
            }
          : null
    );
    if (!this._reportedCamera || !sameCamera(this._reportedCamera, camera)) {
      this._reportedCamera = camera;
      this.callbacks.onCameraChange?.(camera);
    }
  }
}

export interface ISurfaceOptions {
  readonly callbacks?: Partial<ISurfaceCallbacks>;
  /** Places legend and minimap; without it, the minimap uses its preferred corner. */
  readonly docks?: CornerDocks;
  readonly strings?: Partial<ISurfaceStrings>;
  readonly details?: ICardDetails;
  /** Minimap in the corner; default true. */
  readonly minimap?: boolean;
  /** Action of the plain wheel; default `pan`. Ctrl/Meta+wheel and pinch always zoom. */
  readonly wheel?: 'pan' | 'zoom';
  /** Default: the system's `prefers-reduced-motion`. */
  readonly reducedMotion?: boolean;
}
