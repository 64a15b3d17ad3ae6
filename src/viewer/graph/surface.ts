/** The drawing surface: one imperative scene inside one host element. */
import type { ILit } from '../../core/lit';
import type { IGraphModel, IScene, ITree } from '../../core/types';
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
  type ISurfaceStrings
} from './api';
import { boxRect, type IPoint, type ISize, sameCamera } from './camera';
import { Docks } from './docks';
import { Drawings } from './drawings';
import { entityAt, exactBox, isPill } from './entities';
import type { SceneIndex } from './grid';
import { Helm } from './helm';
import { Interaction } from './interaction';
import type { Links } from './links';
import { Marks } from './marks';
import { Minimap } from './minimap';
import { Rest } from './motion';
import { boxName, tensorText } from './names';
import type { IDrawing } from './primitives';
import { Renderer } from './renderer';
import { Stage } from './stage';
import { rereadFont } from './text';
import { prefersReducedMotion } from './theme';
import type { IActor } from './interactionHost';

export * from './api';

/** Draws scenes; the host needs a size. Throws nothing on empty scenes or hidden hosts. */
export class GraphSurface implements IActor {
  readonly callbacks: Partial<ISurfaceCallbacks>;
  private readonly strings: ISurfaceStrings;
  private readonly stage: Stage;
  readonly renderer: Renderer;
  private readonly minimap: Minimap | null;
  private readonly docks: Docks;
  private readonly undock: () => void;
  private readonly interaction: Interaction;
  private readonly helm: Helm;
  private readonly marks = new Marks(() => this.schedule());
  private readonly reduced: () => boolean;
  private readonly drawings: Drawings;
  private _cursor = -1;
  private request = 0;
  private readonly rest = new Rest(moving => {
    if (moving) {
      this.stage.root.classList.add('oad-moving');
    }
    this.schedule();
  });
  private reported: ICamera | null = null;

  constructor(host: HTMLElement, options: ISurfaceOptions = {}) {
    rereadFont();
    this.callbacks = options.callbacks ?? {};
    this.strings = { ...DEFAULT_STRINGS, ...options.strings };
    const details = options.details ?? DEFAULT_DETAILS;
    this.drawings = new Drawings(details, this.strings);
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
    this.docks = options.docks ?? new Docks();
    this.undock = this.minimap ? this.docks.add(this.minimap) : () => undefined;
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
    // What opens out of a chip takes the cursor along from the card, and brings it back.
    const { anchorEntity: anchor = -1 } = how;
    const moves =
      this._cursor >= 0 && this.scene?.boxOf(anchor) === this._cursor;
    const held = moves
      ? anchor
      : this.scene && entityAt(this.scene, this._cursor);
    this.renderer.setDrawing(this.drawings.of(scene, model, tree));
    this._cursor =
      held === null ? -1 : moves ? scene.boxOf(held) : exactBox(scene, held);
    this.renderer.svg.setCursor(this._cursor);
    const ringed = this.marks.decor.cursor >= 0 ? this._cursor : -1;
    this.marks.renew(scene, ringed);
    // What it told may be gone; the next move of the pointer tells what is there now.
    this.stage.setTip(null);
    this.helm.follow(before, scene, how, held);
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
    this.drawings.overlay = overlay;
    this.redraw();
  }

  /** Changes what cards show; the scene should be laid out again with a sizer of the same details. */
  setDetails(details: ICardDetails): void {
    this.drawings.setDetails(details);
    this.redraw();
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

  /** The first look at the picture: all of it, or its beginning. */
  home(): void {
    this.helm.home();
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

  /** Takes a key that was pressed where nothing in the graph had the focus. */
  press(event: KeyboardEvent): void {
    this.interaction.press(event);
  }

  dispose(): void {
    this.helm.stop();
    cancelAnimationFrame(this.request);
    this.rest.stop();
    this.interaction.dispose();
    this.undock();
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
    const { drawing } = this;
    if (this.marks.point(box, what, drawing?.tree.series ?? null)) {
      // What has a tip of its own needs no few words.
      const told = drawing && what && what.kind !== 'entity';
      const few = told && !isPill(drawing.scene, box);
      this.stage.setTip(few ? tensorText(drawing, what, this.strings) : null);
    }
  }

  setCursor(box: number, byKey: boolean): void {
    this._cursor = box;
    this.renderer.svg.setCursor(box);
    this.marks.update({ cursor: byKey ? box : -1 });
    this.callbacks.onRing?.(byKey ? box : -1);
    if (byKey && box >= 0) {
      this.helm.reveal(boxRect(this.scene!, box));
      this.frame();
      if (!this.renderer.focusBox(box) && this.renderer.drawing) {
        this.stage.announce(boxName(this.renderer.drawing, box, this.strings));
      }
    }
  }

  showBand(from: IPoint, to: IPoint | null): void {
    this.stage.showBand(from, to);
  }

  titleShift(box: number): number {
    return this.renderer.svg.titleShift(box);
  }

  private redraw(): void {
    const { drawing } = this;
    if (drawing) {
      const { scene, model, tree } = drawing;
      this.renderer.setDrawing(this.drawings.of(scene, model, tree));
      this.schedule();
    }
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
    if (!this.rest.moving) {
      // Only now: until it is painted at rest, the picture is shifted as a whole.
      this.stage.root.classList.remove('oad-moving');
    }
    const { scene, view, index } = this;
    this.docks.follow([scene, view.w, view.h, this.helm.turns], () =>
      scene && index
        ? {
            scene,
            index,
            view,
            camera: this.helm.aim,
            labels: this.renderer.svg.labels
          }
        : null
    );
    if (!this.reported || !sameCamera(this.reported, camera)) {
      this.reported = camera;
      this.callbacks.onCameraChange?.(camera);
    }
  }
}

export interface ISurfaceOptions {
  readonly callbacks?: Partial<ISurfaceCallbacks>;
  /** Gives what stands over the picture its place; absent: the strip has the corner it likes. */
  readonly docks?: Docks;
  readonly strings?: Partial<ISurfaceStrings>;
  readonly details?: ICardDetails;
  /** Overview strip in the corner; default true. */
  readonly minimap?: boolean;
  /** What a plain wheel does; default `pan`. Ctrl/Meta+wheel and pinch always zoom. */
  readonly wheel?: 'pan' | 'zoom';
  /** Default: the system's `prefers-reduced-motion`. */
  readonly reducedMotion?: boolean;
}
