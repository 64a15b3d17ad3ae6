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
import { edgePath, edgeWidth, portPath } from './edges';
import type { SceneIndex } from './grid';
import { detailKey, FAR_UP_TO, LABELS_FROM, lodOf } from './lod';
import { drawPanel } from './panel';
import type { IDrawing } from './primitives';
import { StickyTitles } from './stickies';
import { svgElement, SvgSink } from './svgsink';
import { labelledEdges, wireLabel } from './wires';

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

interface IDrawnEdge {
  readonly line: SVGGElement;
  label: SVGTextElement | null;
}

export class SvgLayer {
  readonly world = svgElement('g');
  private readonly panels = svgElement('g');
  private readonly edges = svgElement('g');
  private readonly labels = svgElement('g');
  private readonly boxes = svgElement('g');
  private readonly boxElements = new Map<number, SVGGElement>();
  private readonly titles = new StickyTitles();
  private readonly edgeElements = new Map<number, IDrawnEdge>();
  private drawing: IDrawing | null = null;
  private index: SceneIndex | null = null;
  private cover: IRect | null = null;
  private key = 0;
  private lit: ILit | null = null;
  private cursor = -1;
  private readonly drift: Drift;
  /** One labelled edge a wire: the widest place. */
  private labelEdge: ReadonlySet<number> = new Set();

  constructor(
    private readonly parent: SVGSVGElement,
    private readonly strings: ISurfaceStrings,
    /** Called before the element that has the focus goes away. */
    private readonly release: () => void
  ) {
    this.drift = new Drift(parent.style, MARGIN);
    this.edges.setAttribute('class', 'oad-edges');
    this.labels.setAttribute('class', 'oad-labels');
    this.world.append(this.panels, this.edges, this.labels, this.boxes);
    parent.append(this.world);
  }

  /** Marks lie in the same coordinates: wires below the boxes, rings above them. */
  mountDecor(wires: SVGGElement, rings: SVGGElement): void {
    this.world.insertBefore(wires, this.labels);
    this.world.append(rings);
  }

  setDrawing(drawing: IDrawing, index: SceneIndex): void {
    const before = this.drawing;
    const sameScene = before?.scene === drawing.scene;
    this.drawing = drawing;
    this.index = index;
    if (!sameScene) {
      this.labelEdge = labelledEdges(drawing.scene);
      this.clear();
    } else {
      this.clearBoxes();
      if (before.model.shapeText !== drawing.model.shapeText) {
        this.relabel();
      }
    }
  }

  /** The shapes of other sizes on the wires that are drawn. */
  private relabel(): void {
    for (const [edge, drawn] of this.edgeElements) {
      drawn.label?.remove();
      drawn.label = this.makeLabel(edge);
      if (drawn.label) {
        drawn.label.classList.toggle('oad-lit', this.lit?.edges[edge] === 1);
        this.labels.append(drawn.label);
      }
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
    for (const [edge, { line, label }] of this.edgeElements) {
      line.classList.toggle('oad-lit', lit?.edges[edge] === 1);
      label?.classList.toggle('oad-lit', lit?.edges[edge] === 1);
    }
  }

  /** The element that Tab reaches, when it is drawn. */
  get cursorBox(): number {
    return this.cursor;
  }

  drawnBoxes(): ReadonlyMap<number, SVGGElement> {
    return this.boxElements;
  }

  fadeEdges(milliseconds: number): void {
    for (const g of [this.edges, this.labels]) {
      if (typeof g.animate === 'function') {
        g.animate([{ opacity: 0 }, { opacity: 1 }], {
          duration: milliseconds,
          easing: 'ease-in'
        });
      }
    }
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
      if (this.edgeElements.size > 0 || this.boxElements.size > 0) {
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
      this.labels.setAttribute('display', k >= LABELS_FROM ? 'inline' : 'none');
      // Wires stay visible while the picture shrinks.
      this.edges.setAttribute('data-detail', String(key));
      this.key = key;
    }
    this.cover = cover;
    this.syncBoxes(cover, k);
    this.syncEdges(cover);
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
      g.setAttribute('data-entity', String(scene.boxEntity[box]));
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

  private syncEdges(cover: IRect): void {
    const wanted = new Set(this.index!.edgesIn(cover));
    for (const [edge, drawn] of this.edgeElements) {
      if (!wanted.has(edge)) {
        drawn.line.remove();
        drawn.label?.remove();
        this.edgeElements.delete(edge);
      }
    }
    const fresh = document.createDocumentFragment();
    const labels = document.createDocumentFragment();
    for (const edge of wanted) {
      if (!this.edgeElements.has(edge)) {
        const drawn = {
          line: this.makeEdge(edge),
          label: this.makeLabel(edge)
        };
        if (this.lit?.edges[edge]) {
          drawn.line.classList.add('oad-lit');
          drawn.label?.classList.add('oad-lit');
        }
        this.edgeElements.set(edge, drawn);
        fresh.append(drawn.line);
        if (drawn.label) {
          labels.append(drawn.label);
        }
      }
    }
    this.edges.append(fresh);
    this.labels.append(labels);
  }

  private makeEdge(edge: number): SVGGElement {
    const { scene } = this.drawing!;
    const g = svgElement('g');
    g.setAttribute('aria-hidden', 'true');
    const line = svgElement('path');
    line.setAttribute('d', edgePath(scene, edge));
    line.setAttribute(
      'stroke-width',
      String(edgeWidth(scene.edgeWeight[edge]))
    );
    g.append(line);
    const dots = portPath(scene, edge);
    if (dots) {
      const ports = svgElement('path');
      ports.setAttribute('class', 'oad-ports');
      ports.setAttribute('d', dots);
      g.append(ports);
    }
    return g;
  }

  private makeLabel(edge: number): SVGTextElement | null {
    const found = wireLabel(this.drawing!, this.index!, edge, this.labelEdge);
    if (!found) {
      return null;
    }
    const label = svgElement('text');
    label.setAttribute('x', String(found.x));
    label.setAttribute('y', String(found.y));
    label.textContent = found.text;
    return label;
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
    this.edges.replaceChildren();
    this.labels.replaceChildren();
    this.edgeElements.clear();
    this.key = 0;
  }
}
