/** The drawing surface: one imperative scene inside one host element. */
import type { ILit } from '../../core/lit';
import type { IGraphModel, IScene, ITree } from '../../core/types';
import { groupState } from './announce';
import {
  DEFAULT_DETAILS,
  DEFAULT_STRINGS,
  type ICamera,
  type ICardDetails,
  type IOverlay,
  type ISetSceneOptions,
  type ISurfaceCallbacks,
  type ISurfaceOptions,
  type ISurfaceStrings
} from './api';
import {
  boxRect,
  clampCamera,
  fitRect,
  fitScene,
  type IPoint,
  type IRect,
  type ISize,
  sameCamera,
  sceneSize,
  shiftInto,
  zoomAt
} from './camera';
import { Cards } from './card';
import { type IDecor, NO_DECOR } from './decor';
import type { SceneIndex } from './grid';
import { anchorOf, type Auto, autoCamera, heldCamera } from './homing';
import { type IActor, Interaction } from './interaction';
import type { Links } from './links';
import { boxesRect, entityAt, exactBox, visibleBoxes } from './entities';
import { Minimap } from './minimap';
import { Flight, Rest } from './motion';
import { ScenePaint } from './paint';
import type { IDrawing } from './primitives';
import { Renderer } from './renderer';
import { Stage } from './stage';
import { boxName } from './svg';
import { pageMeasure, rereadFont } from './text';
import { prefersReducedMotion } from './theme';

export * from './api';

/** Screen pixels between a box brought into view and the edge of the view. */
const VIEW_MARGIN = 40;
const READING_ZOOM = 0.9;

/** Draws scenes; the host needs a size. Throws nothing on empty scenes or hidden hosts. */
export class GraphSurface implements IActor {
  readonly callbacks: Partial<ISurfaceCallbacks>;
  private readonly strings: ISurfaceStrings;
  private readonly stage: Stage;
  readonly renderer: Renderer;
  private readonly minimap: Minimap | null;
  private readonly interaction: Interaction;
  private readonly flight: Flight;
  private readonly reduced: () => boolean;
  private details: ICardDetails;
  private cards: { model: IGraphModel; tree: ITree; cards: Cards } | null =
    null;
  private overlay: IOverlay | null = null;
  private decor: IDecor = NO_DECOR;
  private decorDirty = false;
  private selected: readonly number[] = [];
  private hits: readonly number[] = [];
  private hit: number | null = null;
  private _cursor = -1;
  private _camera: ICamera = { x: 0, y: 0, k: 1 };
  /** What a resize does again, until the reader moves the camera. */
  private auto: Auto | null = 'home';
  private request = 0;
  private readonly rest = new Rest(moving => {
    this.stage.root.classList.toggle('oad-moving', moving);
    this.schedule();
  });
  private reported: ICamera | null = null;

  constructor(host: HTMLElement, options: ISurfaceOptions = {}) {
    rereadFont();
    this.callbacks = options.callbacks ?? {};
    this.strings = { ...DEFAULT_STRINGS, ...options.strings };
    this.details = options.details ?? DEFAULT_DETAILS;
    this.reduced = () => options.reducedMotion ?? prefersReducedMotion();
    this.stage = new Stage(host, this.strings, () => this.resized());
    this.minimap =
      options.minimap === false
        ? null
        : new Minimap(
            p => this.move({ ...this._camera, ...p }),
            this.strings.overview
          );
    this.renderer = new Renderer(this.stage, this.minimap, this.strings);
    this.flight = new Flight(camera => this.apply(camera), this.reduced);
    this.interaction = new Interaction(this, () => options.wheel === 'zoom');
  }

  /** Shows a scene. The first one is fitted; later ones keep the camera, or hold `anchorEntity` still. */
  setScene(
    scene: IScene,
    model: IGraphModel,
    tree: ITree,
    how: ISetSceneOptions = {}
  ): void {
    const before = this.scene
      ? { scene: this.scene, camera: this._camera }
      : null;
    const held = this.scene && entityAt(this.scene, this._cursor);
    if (!this.cards || this.cards.model !== model || this.cards.tree !== tree) {
      this.makeCards(model, tree);
    }
    this.draw(scene, model, tree);
    this._cursor = held === null ? -1 : exactBox(scene, held);
    this.renderer.svg.setCursor(this._cursor);
    const ringed = this.decor.cursor >= 0 ? this._cursor : -1;
    this.updateDecor({ hoverBox: -1, hoverTensor: -1, cursor: ringed });
    this.mark();
    if (!before || how.keepCamera === false) {
      this.auto = 'home';
      this.rehome();
    } else if (this.auto && how.anchorEntity === undefined) {
      // The reader has not looked elsewhere: all of it, or its beginning, as before.
      this.rehome();
    } else {
      const anchor = anchorOf(before, scene, how.anchorEntity ?? held);
      this.hold(before.scene, scene, anchor);
    }
    this.frame();
    if (before && how.animateFrom && !this.reduced()) {
      this.renderer.glide(
        { scene: how.animateFrom, camera: before.camera },
        this._camera
      );
    }
    const { drawing } = this.renderer;
    this.stage.announce(groupState(drawing, how.anchorEntity, this.strings));
  }

  setOverlay(overlay: IOverlay | null): void {
    this.overlay = overlay;
    this.redraw();
  }

  /** Changes what cards show; the scene should be laid out again with a sizer of the same details. */
  setDetails(details: ICardDetails): void {
    this.details = details;
    if (this.cards) {
      this.makeCards(this.cards.model, this.cards.tree);
      this.redraw();
    }
  }

  /** Reads the theme's colours again. */
  setTheme(): void {
    rereadFont();
    this.renderer.setTheme();
    this.schedule();
  }

  setSelection(entities: readonly number[]): void {
    this.selected = entities;
    this.mark();
  }

  /** Dims all but these boxes and wires of the present scene; null = dims nothing. */
  setLit(lit: ILit | null): void {
    this.renderer.setLit(lit);
    this.schedule();
  }

  /** A tensor to keep bright; null = none. */
  setTensor(tensor: number | null): void {
    this.updateDecor({ tensor: tensor ?? -1 });
  }

  /** Search hits; `current` gets the stronger mark. Hidden ones mark the group that hides them. */
  setHighlights(
    entities: readonly number[],
    current: number | null = null
  ): void {
    this.hits = entities;
    this.hit = current;
    this.mark();
  }

  get camera(): ICamera {
    return this._camera;
  }

  setCamera(camera: ICamera, animate = false): void {
    this.auto = null;
    this.flight.go(this._camera, this.clamped(camera), animate);
  }

  fit(animate = true): void {
    if (this.scene) {
      this.flight.go(
        this._camera,
        this.clamped(fitScene(this.scene, this.view)),
        animate
      );
      this.auto = 'fit';
    }
  }

  /** Brings the entity, or its closest visible ancestor, to the middle at a zoom that can be read. */
  zoomTo(entity: number, animate = true): void {
    const box = this.scene?.boxOf(entity) ?? -1;
    if (box < 0 || !this.scene) {
      return;
    }
    const rect = boxRect(this.scene, box);
    const whole = fitRect(rect, this.view, 1);
    const k = Math.min(
      Math.max(this._camera.k, READING_ZOOM),
      Math.max(whole.k, 0.3)
    );
    this.setCamera({ x: whole.x, y: whole.y, k }, animate);
  }

  /** Brings these, or what hides them, into view as large as they fit. */
  fitEntities(entities: readonly number[]): void {
    const area = this.scene && boxesRect(this.scene, entities);
    if (area) {
      this.setCamera(fitRect(area, this.view, 1.5), true);
    }
  }

  zoom(factor: number): void {
    const at = { x: this.view.w / 2, y: this.view.h / 2 };
    this.fly(zoomAt(this._camera, this.view, at, this._camera.k * factor));
  }

  actualSize(): void {
    this.fly({ ...this._camera, k: 1 });
  }

  focus(): void {
    this.renderer.focusBox(this._cursor);
  }

  dispose(): void {
    this.flight.stop();
    cancelAnimationFrame(this.request);
    this.rest.stop();
    this.interaction.dispose();
    this.minimap?.dispose();
    this.stage.dispose();
  }

  get root(): HTMLElement {
    return this.stage.root;
  }

  get scene(): IScene | null {
    return this.renderer.scene;
  }

  get index(): SceneIndex | null {
    return this.renderer.index;
  }

  get links(): Links | null {
    return this.renderer.links;
  }

  get drawing(): IDrawing | null {
    return this.renderer.drawing;
  }

  get view(): ISize {
    return this.stage.size;
  }

  get cursor(): number {
    return this._cursor;
  }

  move(camera: ICamera): boolean {
    this.flight.stop();
    const next = this.clamped(camera);
    if (sameCamera(next, this._camera)) {
      return false;
    }
    this.auto = null;
    this.apply(next);
    return true;
  }

  fly(camera: ICamera): void {
    this.setCamera(camera, true);
    const percent = Math.round(this.clamped(camera).k * 100);
    this.stage.announce(`${this.strings.zoom} ${percent} %`);
  }

  setHover(box: number, tensor: number): void {
    if (box !== this.decor.hoverBox || tensor !== this.decor.hoverTensor) {
      this.updateDecor({ hoverBox: box, hoverTensor: tensor });
    }
  }

  setCursor(box: number, byKey: boolean): void {
    this._cursor = box;
    this.updateDecor({ cursor: byKey ? box : -1 });
    if (byKey && box >= 0) {
      this.reveal(boxRect(this.scene!, box));
      this.frame();
      if (!this.renderer.focusBox(box) && this.renderer.drawing) {
        this.stage.announce(boxName(this.renderer.drawing, box, this.strings));
      }
    } else {
      this.renderer.svg.setCursor(box);
    }
  }

  showBand(from: IPoint, to: IPoint | null): void {
    this.stage.showBand(from, to);
  }

  titleShift(box: number): number {
    return this.renderer.svg.titleShift(box);
  }

  private makeCards(model: IGraphModel, tree: ITree): void {
    const cards = new Cards(model, tree, this.details, this.strings);
    this.cards = { model, tree, cards };
  }

  private draw(scene: IScene, model: IGraphModel, tree: ITree): void {
    const paint = new ScenePaint(scene, model, this.overlay);
    const { cards } = this.cards!;
    this.renderer.setDrawing({
      scene,
      model,
      tree,
      paint,
      cards,
      measure: pageMeasure(),
      controls: true
    });
  }

  private redraw(): void {
    if (this.scene && this.cards) {
      this.draw(this.scene, this.cards.model, this.cards.tree);
      this.schedule();
    }
  }

  private clamped(camera: ICamera): ICamera {
    const { scene, view } = this;
    return scene && view.w > 0
      ? clampCamera(camera, sceneSize(scene), view)
      : camera;
  }

  private resized(): void {
    this.renderer.resized();
    this.rehome();
    this.schedule();
  }

  private rehome(): void {
    const { scene, view, auto } = this;
    if (scene && auto && view.w > 0 && view.h > 0) {
      this.flight.stop();
      this.apply(this.clamped(autoCamera(scene, view, auto)));
    }
  }

  /** Keeps the anchor's top left corner where it was on the screen. */
  private hold(before: IScene, after: IScene, anchor: number | null): void {
    this.flight.stop();
    this.auto = null;
    const held = heldCamera(this._camera, before, after, anchor);
    this.apply(held?.camera ?? this.clamped(this._camera));
    if (held) {
      this.reveal(held.title);
    }
  }

  /** Pans by as little as brings the rectangle's top left part into view. */
  private reveal(r: IRect): void {
    const { view, _camera: c } = this;
    const { dx, dy } = shiftInto(c, view, r, VIEW_MARGIN);
    if (dx !== 0 || dy !== 0) {
      this.auto = null;
      this.apply(this.clamped({ x: c.x + dx, y: c.y + dy, k: c.k }));
    }
  }

  /** Selection and hits as boxes of the present scene. */
  private mark(): void {
    const { scene } = this;
    if (!scene) {
      return;
    }
    this.updateDecor({
      selection: visibleBoxes(scene, this.selected),
      hits: new Set(visibleBoxes(scene, this.hits)),
      currentHit: this.hit === null ? -1 : scene.boxOf(this.hit)
    });
  }

  private updateDecor(change: Partial<IDecor>): void {
    this.decor = { ...this.decor, ...change };
    this.decorDirty = true;
    this.schedule();
  }

  private apply(camera: ICamera): void {
    this._camera = camera;
    this.rest.touch();
    this.schedule();
  }

  private schedule(): void {
    if (!this.request) {
      this.request = requestAnimationFrame(() => this.frame());
    }
  }

  private frame(): void {
    cancelAnimationFrame(this.request);
    this.request = 0;
    this.renderer.frame(
      this._camera,
      this.view,
      this.decor,
      this.decorDirty,
      this.rest.moving
    );
    this.decorDirty = false;
    if (!this.reported || !sameCamera(this.reported, this._camera)) {
      this.reported = this._camera;
      this.callbacks.onCameraChange?.(this._camera);
    }
  }
}
