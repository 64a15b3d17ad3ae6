/** The wires in view as elements, and the shapes that stand on them. */
import type { ILit } from '../../core/lit';
import type { IRect } from './camera';
import { edgePath, edgeWidth, portPath, returnMarks } from './edges';
import type { SceneIndex } from './grid';
import { type WireLabels, labelsOf } from './labels';
import { LABELS_FROM } from './lod';
import type { IDrawing } from './primitives';
import { svgElement } from './svgsink';

interface IDrawnEdge {
  readonly line: SVGGElement;
  label: SVGTextElement | null;
}

export class WireLayer {
  readonly lines = svgElement('g');
  readonly labels = svgElement('g');
  private readonly drawn = new Map<number, IDrawnEdge>();
  private drawing: IDrawing | null = null;
  private index: SceneIndex | null = null;
  private lit: ILit | null = null;
  /** What stands on the wires; of what was in view, if there are many. */
  texts: WireLabels | null = null;

  constructor() {
    this.lines.setAttribute('class', 'oad-edges');
    this.labels.setAttribute('class', 'oad-labels');
  }

  get isEmpty(): boolean {
    return this.drawn.size === 0;
  }

  setDrawing(drawing: IDrawing, index: SceneIndex): void {
    const before = this.drawing;
    this.drawing = drawing;
    this.index = index;
    const same = this.texts?.fits(drawing) ?? false;
    this.texts = same ? this.texts : labelsOf(drawing, index);
    if (before?.scene !== drawing.scene) {
      this.clear();
      return;
    }
    if (!same) {
      this.relabel();
    }
    if (before.paint !== drawing.paint) {
      for (const [edge, { line }] of this.drawn) {
        this.colour(edge, line);
      }
    }
  }

  /** Marks what belongs to a trace. */
  setLit(lit: ILit | null): void {
    this.lit = lit;
    for (const [edge, drawn] of this.drawn) {
      this.light(edge, drawn);
    }
  }

  /** Another detail, at the zoom `k`. Wires stay visible while the picture shrinks. */
  setDetail(key: number, k: number): void {
    this.labels.setAttribute('display', k >= LABELS_FROM ? 'inline' : 'none');
    this.lines.setAttribute('data-detail', String(key));
  }

  /** Makes what comes into the cover and drops what leaves it. */
  sync(cover: IRect): void {
    const inView = this.index!.edgesIn(cover);
    const wanted = new Set(inView);
    this.texts!.place(inView);
    for (const [edge, drawn] of this.drawn) {
      if (!wanted.has(edge)) {
        drawn.line.remove();
        drawn.label?.remove();
        this.drawn.delete(edge);
      }
    }
    const lines = document.createDocumentFragment();
    const labels = document.createDocumentFragment();
    for (const edge of wanted) {
      if (!this.drawn.has(edge)) {
        const drawn = {
          line: this.makeLine(edge),
          label: this.makeLabel(edge)
        };
        if (this.lit) {
          this.light(edge, drawn);
        }
        this.drawn.set(edge, drawn);
        lines.append(drawn.line);
        if (drawn.label) {
          labels.append(drawn.label);
        }
      }
    }
    this.lines.append(lines);
    this.labels.append(labels);
  }

  fade(milliseconds: number): void {
    for (const g of [this.lines, this.labels]) {
      if (typeof g.animate === 'function') {
        g.animate([{ opacity: 0 }, { opacity: 1 }], {
          duration: milliseconds,
          easing: 'ease-in'
        });
      }
    }
  }

  clear(): void {
    this.lines.replaceChildren();
    this.labels.replaceChildren();
    this.drawn.clear();
  }

  /** The shapes of other sizes on the wires that are drawn. */
  private relabel(): void {
    this.texts!.place([...this.drawn.keys()]);
    for (const [edge, drawn] of this.drawn) {
      drawn.label?.remove();
      drawn.label = this.makeLabel(edge);
      if (drawn.label) {
        this.light(edge, drawn);
        this.labels.append(drawn.label);
      }
    }
  }

  private light(edge: number, { line, label }: IDrawnEdge): void {
    const on = this.lit?.edges[edge] === 1;
    line.classList.toggle('oad-lit', on);
    label?.classList.toggle('oad-lit', on);
  }

  /** A wire that is not like the others has a colour and dashes of its own. */
  private colour(
    edge: number,
    { style, firstElementChild }: SVGGElement
  ): void {
    const look = this.drawing!.paint.wire(edge);
    const dash = look?.dash.join(' ') ?? '';
    style.stroke = look?.color ?? '';
    firstElementChild!.setAttribute('stroke-dasharray', dash);
  }

  private makeLine(edge: number): SVGGElement {
    const { scene } = this.drawing!;
    const g = svgElement('g');
    g.setAttribute('aria-hidden', 'true');
    const line = svgElement('path');
    line.setAttribute('d', edgePath(scene, edge) + returnMarks(scene, edge));
    line.setAttribute(
      'stroke-width',
      String(edgeWidth(scene.edgeWeight[edge]))
    );
    g.append(line);
    this.colour(edge, g);
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
    const found = this.texts!.of(edge);
    if (!found) {
      return null;
    }
    const label = svgElement('text');
    label.setAttribute('x', String(found.x));
    label.setAttribute('y', String(found.y));
    label.textContent = found.text;
    return label;
  }
}
