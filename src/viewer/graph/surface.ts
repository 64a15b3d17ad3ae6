/** The drawing surface: one imperative scene inside one host element. */
import type { ILit } from '../../core/lit';
import type { ITensors } from '../../core/series';
import {
  BoxKind,
  type IGraphModel,
  type IScene,
  type ITree
} from '../../core/types';
import { groupState } from './announce';
import {
  DEFAULT_DETAILS,
  DEFAULT_STRINGS,
  type ICamera,
  type ICardDetails,
  type IHover,
  type IOverlay,
  type ISetSceneOptions,
  type ISurfaceCallbacks,
  type ISurfaceOptions,
  type ISurfaceStrings
} from './api';
import { boxRect, type IPoint, type ISize, sameCamera } from './camera';
import { Cards } from './card';
import { entityAt, exactBox } from './entities';
import type { SceneIndex } from './grid';
import { Helm } from './helm';
import { anchorOf } from './homing';
import { type IActor, Interaction } from './interaction';
import type { Links } from './links';
import { Marks } from './marks';
import { Minimap } from './minimap';
import { Rest } from './motion';
import { boxName, tensorText } from './names';
import { ScenePaint } from './paint';
import type { IDrawing } from './primitives';
import { Renderer } from './renderer';
import { Stage } from './stage';
import { pageMeasure, rereadFont } from './text';
import { prefersReducedMotion } from './theme';

export * from './api';

/** Draws scenes; the host needs a size. Throws nothing on empty scenes or hidden hosts. */
export class GraphSurface implements IActor {
  readonly callbacks: Partial<ISurfaceCallbacks>;
  private readonly strings: ISurfaceStrings;
  private readonly stage: Stage;
  readonly renderer: Renderer;
  private readonly minimap: Minimap | null;
  private readonly interaction: Interaction;
  private readonly helm: Helm;
  private readonly marks = new Marks(() => this.schedule());
  private readonly reduced: () => boolean;
  private details: ICardDetails;
  private cards: { model: IGraphModel; tree: ITree; cards: Cards } | null =
    null;
  private overlay: IOverlay | null = null;
  private _cursor = -1;
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
            p => this.move({ ...this.camera, ...p }),
            this.strings.overview
          );
    this.renderer = new Renderer(this.stage, this.minimap, this.strings);
    const moved = (): void => {
      this.rest.touch();
      this.schedule();
    };
    this.helm = new Helm(this, moved, this.reduced);
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
      ? { scene: this.scene, camera: this.camera }
      : null;
    const held = this.scene && entityAt(this.scene, this._cursor);
    if (!this.cards || this.cards.model !== model || this.cards.tree !== tree) {
      this.makeCards(model, tree);
    }
    this.draw(scene, model, tree);
    this._cursor = held === null ? -1 : exactBox(scene, held);
    this.renderer.svg.setCursor(this._cursor);
    const ringed = this.marks.decor.cursor >= 0 ? this._cursor : -1;
    this.marks.renew(scene, ringed);
    if (!before || how.keepCamera === false) {
      this.helm.home();
    } else if (this.helm.untouched && how.anchorEntity === undefined) {
      // The reader has not looked elsewhere: all of it, or its beginning, as before.
      this.helm.rehome();
    } else {
      const anchor = anchorOf(before, scene, how.anchorEntity ?? held);
      this.helm.hold(before.scene, scene, anchor);
    }
    this.frame();
    if (before && how.animateFrom && !this.reduced()) {
      this.renderer.glide(
        { scene: how.animateFrom, camera: before.camera },
        this.camera
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
    this.marks.select(entities, this.scene);
  }

  /** Dims all but these boxes and wires of the present scene; null = dims nothing. */
  setLit(lit: ILit | null): void {
    this.renderer.setLit(lit);
    this.schedule();
  }

  /** Tensors to keep bright. */
  setTensors(tensors: readonly number[]): void {
    this.marks.update({ tensors });
  }

  /** Search hits; `current` gets the stronger mark. Hidden ones mark the group that hides them. */
  setHighlights(
    entities: readonly number[],
    current: number | null = null
  ): void {
    this.marks.highlight(entities, current, this.scene);
  }

  get camera(): ICamera {
    return this.helm.camera;
  }

  setCamera(camera: ICamera, animate = false): void {
    this.helm.go(camera, animate);
  }

  fit(animate = true): void {
    this.helm.fit(animate);
  }

  /** Brings the entity, or its closest visible ancestor, to the middle at a zoom that can be read. */
  zoomTo(entity: number, animate = true): void {
    this.helm.zoomTo(entity, animate);
  }

  /** Brings these, or what hides them, into view as large as they fit. */
  fitEntities(entities: readonly number[]): void {
    this.helm.fitEntities(entities);
  }

  zoom(factor: number): void {
    this.fly(this.helm.zoomed(factor));
  }

  actualSize(): void {
    this.fly({ ...this.camera, k: 1 });
  }

  focus(): void {
    this.renderer.focusBox(this._cursor);
  }

  dispose(): void {
    this.helm.stop();
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
    return this.helm.move(camera);
  }

  fly(camera: ICamera): void {
    this.setCamera(camera, true);
    const percent = Math.round(this.helm.clamped(camera).k * 100);
    this.stage.announce(`${this.strings.zoom} ${percent} %`);
  }

  setHover(box: number, what: IHover): void {
    const { drawing } = this.renderer;
    if (this.marks.point(box, what, drawing?.tree.series ?? null)) {
      const told = what?.kind === 'entity' ? null : what;
      this.stage.setTip(drawing && told ? this.tip(drawing, box, told) : null);
    }
  }

  setCursor(box: number, byKey: boolean): void {
    this._cursor = box;
    this.marks.update({ cursor: byKey ? box : -1 });
    if (byKey && box >= 0) {
      this.helm.reveal(boxRect(this.scene!, box));
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

  /** What the pointer tells of tensors: of a pill its name, of a wire or a stub both of its ends too. */
  private tip(d: IDrawing, box: number, what: ITensors): string {
    const { scene } = d;
    const pill =
      box >= 0 &&
      (scene.boxKind[box] === BoxKind.Input ||
        scene.boxKind[box] === BoxKind.Output);
    return pill
      ? boxName(d, box, this.strings)
      : tensorText(d, what, this.strings);
  }

  private resized(): void {
    this.renderer.resized();
    this.helm.rehome();
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
    const { camera, marks } = this;
    this.renderer.frame(
      camera,
      this.view,
      marks.decor,
      marks.takeChange(),
      this.rest.moving
    );
    if (!this.reported || !sameCamera(this.reported, camera)) {
      this.reported = camera;
      this.callbacks.onCameraChange?.(camera);
    }
  }
}
