/** The elements of the scene in view: made and dropped by tiles, redrawn when the detail changes. */
import type { ILit } from '../../core/lit';
import { BoxKind } from '../../core/types';
import type { ICamera, ISurfaceStrings } from './api';
import { activeIn } from '../ui/focus';
import { drawBox } from './boxes';
import type { IRect, ISize } from './camera';
import { Drift, Step } from './drift';
import { sameRect, tiles } from './culling';
import { boxName } from './names';
import type { SceneIndex } from './grid';
import type { WireLabels } from './labels';
import { detailKey, FAR_UP_TO, lodOf } from './lod';
import { drawPanel } from './panel';
import type { IDrawing } from './primitives';
import { StickyTitles } from './stickies';
import { svgElement, SvgSink } from './svgsink';
import { WireLayer } from './wirelayer';

const KIND_CLASS = [
  'node',
  'group',
  'panel',
  'input',
  'output',
  'stub',
  'port'
];

/** Screen pixels around the view that a moving layer has room for before it is painted anew. */
const MARGIN = 2000;

export class SvgLayer {
  private readonly world = svgElement('g');
  private readonly panels = svgElement('g');
  private readonly wires = new WireLayer();
  private readonly boxes = svgElement('g');
  private readonly boxElements = new Map<number, SVGGElement>();
  private readonly titles = new StickyTitles();
  private drawing: IDrawing | null = null;
  private index: SceneIndex | null = null;
  private cover: IRect | null = null;
  private key = 0;
  private lit: ILit | null = null;
  private cursor = -1;
  private readonly drift: Drift;

  constructor(
    private readonly parent: SVGSVGElement,
    private readonly strings: ISurfaceStrings,
    /** Called before the element that has the focus goes away. */
    private readonly release: () => void
  ) {
    this.drift = new Drift(parent.style, MARGIN);
    const { lines, labels } = this.wires;
    this.world.append(this.panels, lines, labels, this.boxes);
    parent.append(this.world);
  }

  /** What stands on the wires. */
  get labels(): WireLabels | null {
    return this.wires.texts;
  }

  /** Marks lie in the same coordinates: wires below the boxes, rings above them. */
  mountDecor(wires: SVGGElement, rings: SVGGElement): void {
    this.world.insertBefore(wires, this.wires.labels);
    this.world.append(rings);
  }

  setDrawing(drawing: IDrawing, index: SceneIndex): void {
    const sameScene = this.drawing?.scene === drawing.scene;
    this.drawing = drawing;
    this.index = index;
    this.wires.setDrawing(drawing, index);
    if (sameScene) {
      this.clearBoxes();
    } else {
      this.clear();
    }
  }

  /** The view has another size. */
  resized(): void {
    this.drift.spoil();
  }

  /** The element of a box, when it is drawn. */
  element(box: number): SVGGElement | null {
    return this.boxElements.get(box) ?? null;
  }

  /** How far the title of a drawn open group stands from its panel's left side. */
  titleShift(box: number): number {
    return this.titles.shiftOf(box);
  }

  /** Marks what belongs to a trace; the style sheet dims the rest. */
  setLit(lit: ILit | null): void {
    this.lit = lit;
    for (const [box, element] of this.boxElements) {
      element.classList.toggle('oad-lit', lit?.boxes[box] === 1);
    }
    this.wires.setLit(lit);
  }

  get cursorBox(): number {
    return this.cursor;
  }

  drawnBoxes(): ReadonlyMap<number, SVGGElement> {
    return this.boxElements;
  }

  fadeEdges(milliseconds: number): void {
    this.wires.fade(milliseconds);
  }

  /** The one box that Tab reaches. */
  setCursor(box: number): void {
    this.boxElements.get(this.cursor)?.setAttribute('tabindex', '-1');
    this.cursor = box;
    this.boxElements.get(box)?.setAttribute('tabindex', '0');
  }

  /** Brings the elements in line with the camera; true when any was made or dropped. */
  update(camera: ICamera, view: ISize, dpr: number, moving: boolean): boolean {
    this.place(camera, view, dpr, moving);
    const changed = this.sync(camera, view);
    if (this.drawing) {
      const { scene } = this.drawing;
      this.titles.place(scene, camera, view, moving, changed);
    }
    return changed;
  }

  private place(
    camera: ICamera,
    view: ISize,
    dpr: number,
    moving: boolean
  ): void {
    const step = this.drift.step(
      camera,
      view,
      dpr,
      moving && camera.k > FAR_UP_TO
    );
    if (step === Step.Moved) {
      return;
    }
    const { margin } = this.drift;
    this.parent.classList.toggle('oad-drifting', margin > 0);
    this.parent.style.width = margin ? `${view.w + 2 * margin}px` : '';
    this.parent.style.height = margin ? `${view.h + 2 * margin}px` : '';
    const x = margin + view.w / 2 - camera.x * camera.k;
    const y = margin + view.h / 2 - camera.y * camera.k;
    this.world.setAttribute(
      'transform',
      `translate(${x},${y}) scale(${camera.k})`
    );
  }

  private sync(camera: ICamera, view: ISize): boolean {
    const visible = camera.k > FAR_UP_TO && this.drawing !== null;
    if (!visible) {
      if (!this.wires.isEmpty || this.boxElements.size > 0) {
        this.clear();
        return true;
      }
      return false;
    }
    // Details change where the picture is painted anew anyway.
    const k = this.drift.zoomOf(camera);
    const key = detailKey(k);
    const cover = tiles(camera, view);
    if (key === this.key && this.cover && sameRect(cover, this.cover)) {
      return false;
    }
    if (key !== this.key) {
      this.clearBoxes();
      this.wires.setDetail(key, k);
      this.key = key;
    }
    this.cover = cover;
    this.syncBoxes(cover, k);
    this.wires.sync(cover);
    return true;
  }

  private syncBoxes(cover: IRect, k: number): void {
    const wanted = new Set(this.index!.boxesIn(cover));
    const active = activeIn(this.parent);
    for (const [box, element] of this.boxElements) {
      if (!wanted.has(box)) {
        if (element === active) {
          this.release();
        }
        element.remove();
        this.boxElements.delete(box);
        this.titles.drop(box);
      }
    }
    const scene = this.drawing!.scene;
    const missing = [...wanted]
      .filter(b => !this.boxElements.has(b))
      .sort((a, b) => a - b);
    const fresh = document.createDocumentFragment();
    for (const box of missing) {
      const element = this.makeBox(box, k);
      this.boxElements.set(box, element);
      if (scene.boxKind[box] === BoxKind.OpenGroup) {
        this.insertPanel(box, element);
      } else {
        fresh.append(element);
      }
    }
    this.boxes.append(fresh);
  }

  /** Parents come before their children, so that a child's panel lies on its parent's. */
  private insertPanel(box: number, element: SVGGElement): void {
    let before: Element | null = null;
    for (
      let e = this.panels.lastElementChild;
      e;
      e = e.previousElementSibling
    ) {
      if (Number(e.getAttribute('data-box')) < box) {
        break;
      }
      before = e;
    }
    this.panels.insertBefore(element, before);
  }

  private makeBox(box: number, k: number): SVGGElement {
    const d = this.drawing!;
    const { scene } = d;
    const kind = scene.boxKind[box];
    const g = svgElement('g');
    const lit = this.lit?.boxes[box] ? ' oad-lit' : '';
    g.setAttribute('class', `oad-box oad-${KIND_CLASS[kind]}${lit}`);
    g.setAttribute('data-box', String(box));
    g.setAttribute(
      'transform',
      `translate(${scene.boxX[box]},${scene.boxY[box]})`
    );
    if (kind !== BoxKind.Port) {
      g.setAttribute('role', 'button');
      g.setAttribute('tabindex', box === this.cursor ? '0' : '-1');
      g.setAttribute('aria-label', boxName(d, box, this.strings));
      if (kind === BoxKind.Group || kind === BoxKind.OpenGroup) {
        g.setAttribute('aria-expanded', String(kind === BoxKind.OpenGroup));
      }
      // Pills and stubs stand for tensors, whose numbers are others.
      if (kind <= BoxKind.OpenGroup) {
        g.setAttribute('data-entity', String(scene.boxEntity[box]));
      }
    } else {
      g.setAttribute('aria-hidden', 'true');
    }
    if (kind === BoxKind.OpenGroup) {
      const extent = drawPanel(d, box, k, lodOf(k), new SvgSink(g));
      const title = svgElement('g');
      title.append(...[...g.children].slice(1));
      g.append(title);
      this.titles.add(box, title, extent);
    } else {
      drawBox(d, box, k, lodOf(k), new SvgSink(g));
    }
    return g;
  }

  private clearBoxes(): void {
    if (this.parent.contains(activeIn(this.parent))) {
      this.release();
    }
    this.panels.replaceChildren();
    this.boxes.replaceChildren();
    this.boxElements.clear();
    this.titles.clear();
    this.cover = null;
  }

  private clear(): void {
    this.clearBoxes();
    this.wires.clear();
    this.key = 0;
  }
}
