/**
 * Elements of the visible part of the scene: created and removed by tile, redrawn when the level of
 * detail changes.
 */
import type { ITraceHighlight } from '../../../../core/trace/traceHighlight';
import { BoxKind } from '../../../../core/types';
import type { ICamera, ISurfaceStrings } from '../../surfaceApi';
import { activeIn } from '../../../ui/focus';
import { drawBox } from '../../draw/drawBox';
import type { IRect, IViewSize } from '../../geometry/camera';
import { CompositorLayer, PaintStep } from '../../viewport/compositorLayer';
import { sameRect, tileAlignedRect } from '../../geometry/tileRect';
import { boxDescription } from '../../a11y/accessibleNames';
import type { SpatialIndex } from '../../scene/spatialIndex';
import type { WireLabels } from '../../labels/wireLabels';
import { detailKey, CANVAS_MAX_ZOOM, lodOf } from '../../style/levelOfDetail';
import { drawGroupPanel } from '../../draw/drawGroupPanel';
import type { IDrawContext } from '../../draw/drawTarget';
import { StickyTitles } from './stickyTitles';
import { svgElement, SvgTarget } from './svgTarget';
import { SvgWireLayer } from './svgWireLayer';

const KIND_CLASS = [
  'node',
  'group',
  'panel',
  'input',
  'output',
  'stub',
  'port'
];

/** Screen pixels around the view that a moving layer covers before it is painted again. */
const MARGIN = 2000;

export class SvgLayer {
  private readonly _world = svgElement('g');
  private readonly _panels = svgElement('g');
  private readonly _wires = new SvgWireLayer();
  private readonly _boxes = svgElement('g');
  private readonly _boxElements = new Map<number, SVGGElement>();
  private readonly _titles = new StickyTitles();
  private _drawing: IDrawContext | null = null;
  private _index: SpatialIndex | null = null;
  private _drawnRect: IRect | null = null;
  private _drawnKey = 0;
  private _highlight: ITraceHighlight | null = null;
  private _cursor = -1;
  private readonly _compositor: CompositorLayer;

  constructor(
    private readonly _parent: SVGSVGElement,
    private readonly _strings: ISurfaceStrings,
    /** Called before the focused element is removed. */
    private readonly _release: () => void
  ) {
    this._compositor = new CompositorLayer(_parent.style, MARGIN);
    const { lines, labels } = this._wires;
    this._world.append(this._panels, lines, labels, this._boxes);
    _parent.append(this._world);
  }

  /** Labels on the wires. */
  get labels(): WireLabels | null {
    return this._wires.texts;
  }

  /** Decorations use the same coordinates: wires below the boxes, rings above them. */
  mountDecorations(wires: SVGGElement, rings: SVGGElement): void {
    this._world.insertBefore(wires, this._wires.labels);
    this._world.append(rings);
  }

  setDrawing(drawing: IDrawContext, index: SpatialIndex): void {
    const sameScene = this._drawing?.scene === drawing.scene;
    this._drawing = drawing;
    this._index = index;
    this._wires.setDrawing(drawing, index);
    if (sameScene) {
      this._clearBoxes();
    } else {
      this._clear();
    }
  }

  /** The size of the view has changed. */
  resized(): void {
    this._compositor.invalidate();
  }

  /** The element of a box; null if it is not drawn. */
  element(box: number): SVGGElement | null {
    return this._boxElements.get(box) ?? null;
  }

  /** Offset of a drawn open group's title from the left side of its panel. */
  titleShift(box: number): number {
    return this._titles.shiftOf(box);
  }

  /** Marks the members of a trace; the style sheet dims the rest. */
  setTraceHighlight(highlight: ITraceHighlight | null): void {
    this._highlight = highlight;
    for (const [box, element] of this._boxElements) {
      element.classList.toggle('oad-trace-member', highlight?.boxes[box] === 1);
    }
    this._wires.setTraceHighlight(highlight);
  }

  get cursorBox(): number {
    return this._cursor;
  }

  drawnBoxes(): ReadonlyMap<number, SVGGElement> {
    return this._boxElements;
  }

  dimEdges(milliseconds: number): void {
    this._wires.dim(milliseconds);
  }

  /** Sets the only box that Tab reaches. */
  setCursor(box: number): void {
    this._boxElements.get(this._cursor)?.setAttribute('tabindex', '-1');
    this._cursor = box;
    this._boxElements.get(box)?.setAttribute('tabindex', '0');
  }

  /** Updates the elements for a camera; returns true if any was created or removed. */
  update(
    camera: ICamera,
    view: IViewSize,
    dpr: number,
    moving: boolean
  ): boolean {
    this._place(camera, view, dpr, moving);
    const changed = this._sync(camera, view);
    if (this._drawing) {
      const { scene } = this._drawing;
      this._titles.place(scene, camera, view, moving, changed);
    }
    return changed;
  }

  private _place(
    camera: ICamera,
    view: IViewSize,
    dpr: number,
    moving: boolean
  ): void {
    const step = this._compositor.step(
      camera,
      view,
      dpr,
      moving && camera.k > CANVAS_MAX_ZOOM
    );
    if (step === PaintStep.Transformed) {
      return;
    }
    const { margin } = this._compositor;
    this._parent.classList.toggle('oad-drifting', margin > 0);
    this._parent.style.width = margin ? `${view.w + 2 * margin}px` : '';
    this._parent.style.height = margin ? `${view.h + 2 * margin}px` : '';
    const x = margin + view.w / 2 - camera.x * camera.k;
    const y = margin + view.h / 2 - camera.y * camera.k;
    this._world.setAttribute(
      'transform',
      `translate(${x},${y}) scale(${camera.k})`
    );
  }

  private _sync(camera: ICamera, view: IViewSize): boolean {
    const visible = camera.k > CANVAS_MAX_ZOOM && this._drawing !== null;
    if (!visible) {
      if (!this._wires.isEmpty || this._boxElements.size > 0) {
        this._clear();
        return true;
      }
      return false;
    }
    // Level of detail changes only when everything is repainted anyway.
    const k = this._compositor.zoomOf(camera);
    const key = detailKey(k);
    const drawnArea = tileAlignedRect(camera, view);
    if (
      key === this._drawnKey &&
      this._drawnRect &&
      sameRect(drawnArea, this._drawnRect)
    ) {
      return false;
    }
    if (key !== this._drawnKey) {
      this._clearBoxes();
      this._wires.setDetail(key, k);
      this._drawnKey = key;
    }
    this._drawnRect = drawnArea;
    this._syncBoxes(drawnArea, k);
    this._wires.sync(drawnArea);
    return true;
  }

  private _syncBoxes(drawnArea: IRect, k: number): void {
    const boxes = new Set(this._index!.boxesIn(drawnArea));
    const active = activeIn(this._parent);
    for (const [box, element] of this._boxElements) {
      if (!boxes.has(box)) {
        if (element === active) {
          this._release();
        }
        element.remove();
        this._boxElements.delete(box);
        this._titles.drop(box);
      }
    }
    const scene = this._drawing!.scene;
    const missing = [...boxes]
      .filter(b => !this._boxElements.has(b))
      .sort((a, b) => a - b);
    const fragment = document.createDocumentFragment();
    for (const box of missing) {
      const element = this._makeBox(box, k);
      this._boxElements.set(box, element);
      if (scene.boxKind[box] === BoxKind.OpenGroup) {
        this._insertPanel(box, element);
      } else {
        fragment.append(element);
      }
    }
    this._boxes.append(fragment);
  }

  /** Inserts panels in box order, parents first, so that a child's panel lies above its parent's. */
  private _insertPanel(box: number, element: SVGGElement): void {
    let before: Element | null = null;
    for (
      let e = this._panels.lastElementChild;
      e;
      e = e.previousElementSibling
    ) {
      if (Number(e.getAttribute('data-box')) < box) {
        break;
      }
      before = e;
    }
    this._panels.insertBefore(element, before);
  }

  private _makeBox(box: number, k: number): SVGGElement {
    const d = this._drawing!;
    const { scene } = d;
    const kind = scene.boxKind[box];
    const g = svgElement('g');
    const highlight = this._highlight?.boxes[box] ? ' oad-trace-member' : '';
    g.setAttribute('class', `oad-box oad-${KIND_CLASS[kind]}${highlight}`);
    g.setAttribute('data-box', String(box));
    g.setAttribute(
      'transform',
      `translate(${scene.boxX[box]},${scene.boxY[box]})`
    );
    if (kind !== BoxKind.Port) {
      g.setAttribute('role', 'button');
      g.setAttribute('tabindex', box === this._cursor ? '0' : '-1');
      g.setAttribute('aria-label', boxDescription(d, box, this._strings));
      if (kind === BoxKind.Group || kind === BoxKind.OpenGroup) {
        g.setAttribute('aria-expanded', String(kind === BoxKind.OpenGroup));
      }
      // Pills and connectors stand for tensors, whose ids are numbered separately.
      if (kind <= BoxKind.OpenGroup) {
        g.setAttribute('data-entity', String(scene.boxEntity[box]));
      }
    } else {
      g.setAttribute('aria-hidden', 'true');
    }
    if (kind === BoxKind.OpenGroup) {
      const extent = drawGroupPanel(d, box, k, lodOf(k), new SvgTarget(g));
      const title = svgElement('g');
      title.append(...[...g.children].slice(1));
      g.append(title);
      this._titles.add(box, title, extent);
    } else {
      drawBox(d, box, k, lodOf(k), new SvgTarget(g));
    }
    return g;
  }

  private _clearBoxes(): void {
    if (this._parent.contains(activeIn(this._parent))) {
      this._release();
    }
    this._panels.replaceChildren();
    this._boxes.replaceChildren();
    this._boxElements.clear();
    this._titles.clear();
    this._drawnRect = null;
  }

  private _clear(): void {
    this._clearBoxes();
    this._wires.clear();
    this._drawnKey = 0;
  }
}
