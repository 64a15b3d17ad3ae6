/** Draws one frame: elements or canvas by zoom, marks, overview. Holds no state of the reader's. */
import type { ILit } from '../../core/lit';
import type { IScene } from '../../core/types';
import { activeIn } from '../ui/focus';
import type { ICamera, ISurfaceStrings } from './api';
import { boxRect, intersects, type ISize, visibleRect } from './camera';
import { DecorLayer, type IDecor } from './decor';
import { Drift, Step } from './drift';
import { FarLayer } from './far';
import { SceneIndex } from './grid';
import { Links } from './links';
import { FAR_UP_TO } from './lod';
import { Minimap } from './minimap';
import { glide } from './motion';
import type { IDrawing } from './primitives';
import { Stage } from './stage';
import { SvgLayer } from './svg';
import { type IPalette, readPalette } from './theme';
import { DURATION } from './motion';

/** Pixels of the canvas beyond each side of the view while it moves. */
const FAR_MARGIN = 160;

export class Renderer {
  index: SceneIndex | null = null;
  links: Links | null = null;
  drawing: IDrawing | null = null;
  readonly svg: SvgLayer;
  private readonly far = new FarLayer();
  private readonly decor = new DecorLayer();
  private palette: IPalette | null = null;
  private mapDirty = true;
  private refocus = false;
  private canvasShown = false;
  private farHits: ReadonlySet<number> | null = null;
  private readonly drift: Drift;

  constructor(
    private readonly stage: Stage,
    private readonly minimap: Minimap | null,
    strings: ISurfaceStrings
  ) {
    this.drift = new Drift(stage.sheet.element.style, FAR_MARGIN, 0);
    this.svg = new SvgLayer(stage.svg, strings, () => {
      // A frame gives it to the element that takes the place of the one that goes away.
      stage.root.focus({ preventScroll: true });
      this.refocus = true;
    });
    this.svg.mountDecor(this.decor.wires, this.decor.rings);
    if (minimap) {
      stage.root.append(minimap.element);
    }
  }

  get scene(): IScene | null {
    return this.drawing?.scene ?? null;
  }

  setDrawing(drawing: IDrawing): void {
    if (this.drawing?.scene !== drawing.scene || !this.index) {
      this.index = new SceneIndex(drawing.scene);
      this.links = new Links(drawing.scene);
      // Boxes have other numbers in another scene.
      this.setLit(null);
    }
    this.drawing = drawing;
    this.decor.tree = drawing.tree;
    this.far.setDrawing(drawing, this.index);
    this.drift.spoil();
    this.svg.setDrawing(drawing, this.index);
    this.mapDirty = true;
  }

  /** What stays bright while the rest is dimmed; null = nothing is dimmed. */
  setLit(lit: ILit | null): void {
    this.stage.root.classList.toggle('oad-tracing', lit !== null);
    this.svg.setLit(lit);
    this.far.lit = lit;
    this.drift.spoil();
  }

  /** The theme's colours are read again at the next frame. */
  setTheme(): void {
    this.palette = null;
    this.drift.spoil();
    this.mapDirty = true;
  }

  /** A change of size changes the overview strip. */
  resized(): void {
    this.svg.resized();
    this.drift.spoil();
    this.mapDirty = true;
  }

  /** Draws; `decor` is null when no mark changed. */
  frame(
    camera: ICamera,
    view: ISize,
    decor: IDecor,
    decorDirty: boolean,
    moving: boolean
  ): void {
    const { drawing } = this;
    if (!drawing || view.w < 1 || view.h < 1) {
      return;
    }
    const changed = this.svg.update(camera, view, this.stage.dpr, moving);
    const { root } = this.stage;
    // Until the box is drawn, the surface has the focus, unless the reader took it elsewhere.
    if (this.refocus && activeIn(root) === root) {
      this.focusBox(this.svg.cursorBox);
    } else {
      this.refocus = false;
    }
    this.drawFar(camera, view, decor.hits, moving);
    if (decorDirty || (changed && decor.hits.size > 0)) {
      this.drawDecor(camera, view, decor);
    }
    this.drawMap(camera, view);
  }

  /** Boxes glide from where the old scene had them. */
  glide(before: { scene: IScene; camera: ICamera }, camera: ICamera): void {
    if (this.drawing && camera.k > FAR_UP_TO) {
      glide(this.svg.drawnBoxes(), before, {
        scene: this.drawing.scene,
        camera
      });
      this.svg.fadeEdges(DURATION);
    }
  }

  /** Puts the focus on the element of a box, or on the whole surface until there is one. */
  focusBox(box: number): boolean {
    this.svg.setCursor(box);
    const element = this.svg.element(box);
    this.refocus = element === null;
    (element ?? this.stage.root).focus({ preventScroll: true });
    return element !== null;
  }

  private drawFar(
    camera: ICamera,
    view: ISize,
    hits: ReadonlySet<number>,
    moving: boolean
  ): void {
    const far = camera.k <= FAR_UP_TO;
    if (far !== this.canvasShown) {
      this.stage.sheet.element.style.display = far ? 'block' : 'none';
      this.canvasShown = far;
      this.drift.spoil();
    }
    if (hits !== this.farHits) {
      this.farHits = hits;
      this.drift.spoil();
    }
    // While moving, one device pixel a pixel: a sharp picture comes when it rests.
    const dpr = moving ? 1 : this.stage.dpr;
    const step = this.drift.step(camera, view, dpr, moving && far);
    if (!far || step === Step.Moved) {
      return;
    }
    const { margin } = this.drift;
    const how = { camera, view, margin, dpr };
    const size = { w: view.w + 2 * margin, h: view.h + 2 * margin };
    this.stage.sheet.draw(size, dpr, ctx =>
      this.far.draw(ctx, how, this.colors(), { hits })
    );
  }

  private drawDecor(camera: ICamera, view: ISize, decor: IDecor): void {
    const { scene } = this.drawing!;
    const near = visibleRect(camera, view, Math.max(view.w, view.h) * 0.4);
    const isFar = camera.k <= FAR_UP_TO;
    this.decor.draw(
      scene,
      this.links!,
      decor,
      box => !isFar && intersects(boxRect(scene, box), near)
    );
  }

  private drawMap(camera: ICamera, view: ISize): void {
    if (!this.minimap) {
      return;
    }
    if (this.mapDirty) {
      this.mapDirty = false;
      this.minimap.draw(this.drawing!, view, this.colors(), this.stage.dpr);
    }
    this.minimap.show(camera, view);
  }

  get root(): HTMLElement {
    return this.stage.root;
  }

  /** The theme's colours, resolved. */
  colors(): IPalette {
    this.palette ??= readPalette(this.stage.root);
    return this.palette;
  }
}
