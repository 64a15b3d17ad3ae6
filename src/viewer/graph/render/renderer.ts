/**
 * Draws frames: elements or canvas, depending on the zoom, plus decorations and minimap. Holds no user
 * state.
 */
import type { ITraceHighlight } from '../../../core/trace/traceHighlight';
import type { IScene } from '../../../core/types';
import { activeIn } from '../../ui/focus';
import type { ICamera, ISurfaceStrings } from '../surfaceApi';
import {
  boxRect,
  intersects,
  type IViewSize,
  visibleRect
} from '../geometry/camera';
import { DecorationLayer, type IDecorations } from './svg/decorationLayer';
import { CompositorLayer, PaintStep } from '../viewport/compositorLayer';
import { CanvasLayer } from './canvas/canvasLayer';
import { SpatialIndex } from '../scene/spatialIndex';
import { SceneAdjacency } from '../scene/sceneAdjacency';
import { CANVAS_MAX_ZOOM } from '../style/levelOfDetail';
import { Minimap } from './minimap';
import { animateBoxes } from '../viewport/cameraAnimation';
import type { IDrawContext } from '../draw/drawTarget';
import { SurfaceDom } from './surfaceDom';
import { SvgLayer } from './svg/svgLayer';
import { type IPalette, readPalette } from '../style/themePalette';
import { ANIMATION_MS } from '../viewport/cameraAnimation';

/** Canvas pixels beyond each side of the view while it moves. */
const CANVAS_MARGIN = 160;

export class Renderer {
  index: SpatialIndex | null = null;
  adjacency: SceneAdjacency | null = null;
  drawing: IDrawContext | null = null;
  readonly svg: SvgLayer;
  private readonly _canvas = new CanvasLayer();
  private readonly _decorations = new DecorationLayer();
  private _palette: IPalette | null = null;
  private _minimapDirty = true;
  private _focusPending = false;
  private _canvasShown = false;
  private _canvasHits: ReadonlySet<number> | null = null;
  private readonly _compositor: CompositorLayer;

  constructor(
    private readonly _stage: SurfaceDom,
    private readonly _minimap: Minimap | null,
    strings: ISurfaceStrings
  ) {
    this._compositor = new CompositorLayer(
      _stage.offscreenLayer.element.style,
      CANVAS_MARGIN,
      0
    );
    this.svg = new SvgLayer(_stage.svg, strings, () => {
      // The next frame focuses the element that replaces the removed one.
      _stage.root.focus({ preventScroll: true });
      this._focusPending = true;
    });
    this.svg.mountDecorations(this._decorations.wires, this._decorations.rings);
    if (_minimap) {
      _stage.root.append(_minimap.element);
    }
  }

  get scene(): IScene | null {
    return this.drawing?.scene ?? null;
  }

  setDrawing(drawing: IDrawContext): void {
    if (this.drawing?.scene !== drawing.scene || !this.index) {
      this.index = new SpatialIndex(drawing.scene);
      this.adjacency = new SceneAdjacency(drawing.scene);
      // Box numbers differ between scenes.
      this.setTraceHighlight(null);
    }
    this.drawing = drawing;
    this._decorations.tree = drawing.tree;
    this._canvas.setDrawing(drawing, this.index);
    this._compositor.invalidate();
    this.svg.setDrawing(drawing, this.index);
    this._minimapDirty = true;
  }

  /** Boxes and wires that stay bright while the rest is dimmed; null to dim nothing. */
  setTraceHighlight(highlight: ITraceHighlight | null): void {
    this._stage.root.classList.toggle('oad-tracing', highlight !== null);
    this.svg.setTraceHighlight(highlight);
    this._canvas.highlight = highlight;
    this._compositor.invalidate();
  }

  /** Resolves the theme's colours again in the next frame. */
  setTheme(): void {
    this._palette = null;
    this._compositor.invalidate();
    this._minimapDirty = true;
  }

  /** The minimap depends on the size of the view. */
  resized(): void {
    this.svg.resized();
    this._compositor.invalidate();
    this._minimapDirty = true;
  }

  /** Draws a frame; decorations are redrawn only if `decorDirty`. */
  frame(
    camera: ICamera,
    view: IViewSize,
    decorations: IDecorations,
    decorDirty: boolean,
    moving: boolean
  ): void {
    const { drawing } = this;
    if (!drawing || view.w < 1 || view.h < 1) {
      return;
    }
    const changed = this.svg.update(camera, view, this._stage.dpr, moving);
    const { root } = this._stage;
    // Until the box is drawn, the surface has the focus, unless it has moved elsewhere.
    if (this._focusPending && activeIn(root) === root) {
      this.focusBox(this.svg.cursorBox);
    } else {
      this._focusPending = false;
    }
    this._drawCanvas(camera, view, decorations.hits, moving);
    if (decorDirty || (changed && decorations.hits.size > 0)) {
      this._drawDecorations(camera, view, decorations);
    }
    this._drawMinimap(camera, view);
  }

  /** Animates boxes from their positions in the old scene. */
  animateBoxes(
    before: { scene: IScene; camera: ICamera },
    camera: ICamera
  ): void {
    if (this.drawing && camera.k > CANVAS_MAX_ZOOM) {
      animateBoxes(this.svg.drawnBoxes(), before, {
        scene: this.drawing.scene,
        camera
      });
      this.svg.dimEdges(ANIMATION_MS);
    }
  }

  /** Focuses the element of a box, or the whole surface until it is drawn. */
  focusBox(box: number): boolean {
    this.svg.setCursor(box);
    const element = this.svg.element(box);
    this._focusPending = element === null;
    (element ?? this._stage.root).focus({ preventScroll: true });
    return element !== null;
  }

  private _drawCanvas(
    camera: ICamera,
    view: IViewSize,
    hits: ReadonlySet<number>,
    moving: boolean
  ): void {
    const isCanvas = camera.k <= CANVAS_MAX_ZOOM;
    if (isCanvas !== this._canvasShown) {
      this._stage.offscreenLayer.element.style.display = isCanvas
        ? 'block'
        : 'none';
      this._canvasShown = isCanvas;
      this._compositor.invalidate();
    }
    if (hits !== this._canvasHits) {
      this._canvasHits = hits;
      this._compositor.invalidate();
    }
    // While moving, one device pixel per pixel; the sharp picture follows when the camera rests.
    const dpr = moving ? 1 : this._stage.dpr;
    const step = this._compositor.step(camera, view, dpr, moving && isCanvas);
    if (!isCanvas || step === PaintStep.Transformed) {
      return;
    }
    const { margin } = this._compositor;
    const frame = { camera, view, margin, dpr };
    const size = { w: view.w + 2 * margin, h: view.h + 2 * margin };
    this._stage.offscreenLayer.draw(size, dpr, ctx =>
      this._canvas.draw(ctx, frame, this.colors(), { hits })
    );
  }

  private _drawDecorations(
    camera: ICamera,
    view: IViewSize,
    decorations: IDecorations
  ): void {
    const { scene } = this.drawing!;
    const drawnArea = visibleRect(camera, view, Math.max(view.w, view.h) * 0.4);
    const isFar = camera.k <= CANVAS_MAX_ZOOM;
    this._decorations.draw(
      scene,
      this.adjacency!,
      decorations,
      box => !isFar && intersects(boxRect(scene, box), drawnArea)
    );
  }

  private _drawMinimap(camera: ICamera, view: IViewSize): void {
    if (!this._minimap) {
      return;
    }
    if (this._minimapDirty) {
      this._minimapDirty = false;
      this._minimap.draw(this.drawing!, view, this.colors(), this._stage.dpr);
    }
    this._minimap.show(camera, view);
  }

  get root(): HTMLElement {
    return this._stage.root;
  }

  /** The theme's colours, resolved. */
  colors(): IPalette {
    this._palette ??= readPalette(this._stage.root);
    return this._palette;
  }
}
