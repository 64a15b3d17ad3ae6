/** Elements of the wires in view, and their shape labels. */
import type { ITraceHighlight } from '../../../../core/trace/traceHighlight';
import type { IRect } from '../../geometry/camera';
import {
  edgePath,
  edgeWidth,
  portPath,
  returnArrowheadPath
} from '../../geometry/wirePath';
import type { SpatialIndex } from '../../scene/spatialIndex';
import { type WireLabels, labelsOf } from '../../labels/wireLabels';
import { LABELS_FROM } from '../../style/levelOfDetail';
import type { IDrawContext } from '../../draw/drawTarget';
import { svgElement } from './svgTarget';

interface IDrawnEdge {
  readonly line: SVGGElement;
  label: SVGTextElement | null;
}

export class SvgWireLayer {
  readonly lines = svgElement('g');
  readonly labels = svgElement('g');
  private readonly _drawn = new Map<number, IDrawnEdge>();
  private _drawing: IDrawContext | null = null;
  private _index: SpatialIndex | null = null;
  private _highlight: ITraceHighlight | null = null;
  /** Labels of the wires; in large scenes, only of those that were in view. */
  texts: WireLabels | null = null;

  constructor() {
    this.lines.setAttribute('class', 'oad-edges');
    this.labels.setAttribute('class', 'oad-labels');
  }

  get isEmpty(): boolean {
    return this._drawn.size === 0;
  }

  setDrawing(drawing: IDrawContext, index: SpatialIndex): void {
    const before = this._drawing;
    this._drawing = drawing;
    this._index = index;
    const keepsTexts = this.texts?.matches(drawing) ?? false;
    this.texts = keepsTexts ? this.texts : labelsOf(drawing, index);
    if (before?.scene !== drawing.scene) {
      this.clear();
      return;
    }
    if (!keepsTexts) {
      this._relabel();
    }
    if (before.paint !== drawing.paint) {
      for (const [edge, { line }] of this._drawn) {
        this._colour(edge, line);
      }
    }
  }

  /** Marks the members of a trace. */
  setTraceHighlight(highlight: ITraceHighlight | null): void {
    this._highlight = highlight;
    for (const [edge, elements] of this._drawn) {
      this._markMember(edge, elements);
    }
  }

  /** Sets the level of detail at zoom `k`. Wires become bolder as the zoom falls. */
  setDetail(key: number, k: number): void {
    this.labels.setAttribute('display', k >= LABELS_FROM ? 'inline' : 'none');
    this.lines.setAttribute('data-detail', String(key));
  }

  /** Creates elements that enter the given rectangle and removes those that leave it. */
  sync(drawnArea: IRect): void {
    const inView = this._index!.edgesIn(drawnArea);
    const edges = new Set(inView);
    this.texts!.place(inView);
    for (const [edge, elements] of this._drawn) {
      if (!edges.has(edge)) {
        elements.line.remove();
        elements.label?.remove();
        this._drawn.delete(edge);
      }
    }
    const lines = document.createDocumentFragment();
    const labels = document.createDocumentFragment();
    for (const edge of edges) {
      if (!this._drawn.has(edge)) {
        const elements = {
          line: this._makeLine(edge),
          label: this._makeLabel(edge)
        };
        if (this._highlight) {
          this._markMember(edge, elements);
        }
        this._drawn.set(edge, elements);
        lines.append(elements.line);
        if (elements.label) {
          labels.append(elements.label);
        }
      }
    }
    this.lines.append(lines);
    this.labels.append(labels);
  }

  dim(milliseconds: number): void {
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
    this._drawn.clear();
  }

  /** Renews the labels of the drawn wires, for other shapes. */
  private _relabel(): void {
    this.texts!.place([...this._drawn.keys()]);
    for (const [edge, elements] of this._drawn) {
      elements.label?.remove();
      elements.label = this._makeLabel(edge);
      if (elements.label) {
        this._markMember(edge, elements);
        this.labels.append(elements.label);
      }
    }
  }

  private _markMember(edge: number, { line, label }: IDrawnEdge): void {
    const isHighlighted = this._highlight?.edges[edge] === 1;
    line.classList.toggle('oad-trace-member', isHighlighted);
    label?.classList.toggle('oad-trace-member', isHighlighted);
  }

  /** Sets the colour and dashes of a wire that differs from the others. */
  private _colour(
    edge: number,
    { style, firstElementChild }: SVGGElement
  ): void {
    const look = this._drawing!.paint.wire(edge);
    const dash = look?.dash.join(' ') ?? '';
    style.stroke = look?.color ?? '';
    firstElementChild!.setAttribute('stroke-dasharray', dash);
  }

  private _makeLine(edge: number): SVGGElement {
    const { scene } = this._drawing!;
    const g = svgElement('g');
    g.setAttribute('aria-hidden', 'true');
    const line = svgElement('path');
    line.setAttribute(
      'd',
      edgePath(scene, edge) + returnArrowheadPath(scene, edge)
    );
    line.setAttribute(
      'stroke-width',
      String(edgeWidth(scene.edgeWeight[edge]))
    );
    g.append(line);
    this._colour(edge, g);
    const dots = portPath(scene, edge);
    if (dots) {
      const ports = svgElement('path');
      ports.setAttribute('class', 'oad-ports');
      ports.setAttribute('d', dots);
      g.append(ports);
    }
    return g;
  }

  private _makeLabel(edge: number): SVGTextElement | null {
    const text = this.texts!.of(edge);
    if (!text) {
      return null;
    }
    const label = svgElement('text');
    label.setAttribute('x', String(text.x));
    label.setAttribute('y', String(text.y));
    label.textContent = text.text;
    return label;
  }
}
