/** Draws primitives as SVG elements; colours stay CSS variables, so a theme change needs no redraw. */
import type { ColorToken } from '../../style/boxColors';
import {
  dashesOf,
  type IShape,
  type IDrawTarget,
  type ITextStyle
} from '../../draw/drawTarget';

const SVG = 'http://www.w3.org/2000/svg';

export function svgElement<K extends keyof SVGElementTagNameMap>(
  name: K
): SVGElementTagNameMap[K] {
  return document.createElementNS(SVG, name);
}

function cssColor(paint: ColorToken): string {
  return paint.startsWith('--') ? `var(${paint})` : paint;
}

export class SvgTarget implements IDrawTarget {
  constructor(private readonly _parent: SVGElement) {}

  rect(
    x: number,
    y: number,
    w: number,
    h: number,
    r: number,
    shape: IShape
  ): void {
    const rect = svgElement('rect');
    if (x !== 0) {
      rect.setAttribute('x', String(x));
    }
    if (y !== 0) {
      rect.setAttribute('y', String(y));
    }
    rect.setAttribute('width', String(w));
    rect.setAttribute('height', String(h));
    rect.setAttribute('rx', String(r));
    this._add(rect, shape);
  }

  path(d: string, shape: IShape): void {
    const path = svgElement('path');
    path.setAttribute('d', d);
    this._add(path, shape);
  }

  text(x: number, y: number, text: string, style: ITextStyle): void {
    const element = svgElement('text');
    element.setAttribute('x', roundTenth(x));
    element.setAttribute('y', roundTenth(y));
    element.setAttribute('font-size', roundTenth(style.size));
    element.setAttribute('fill', cssColor(style.fill));
    if (style.weight) {
      element.setAttribute('font-weight', String(style.weight));
    }
    if (style.anchor && style.anchor !== 'start') {
      element.setAttribute('text-anchor', style.anchor);
    }
    if (style.opacity !== undefined) {
      element.setAttribute('opacity', String(style.opacity));
    }
    element.textContent = text;
    this._parent.append(element);
  }

  private _add(element: SVGElement, shape: IShape): void {
    element.setAttribute('fill', shape.fill ? cssColor(shape.fill) : 'none');
    if (shape.stroke) {
      element.setAttribute('stroke', cssColor(shape.stroke));
      if (shape.width) {
        element.setAttribute('stroke-width', String(shape.width));
      }
    }
    if (shape.opacity !== undefined) {
      element.setAttribute('opacity', String(shape.opacity));
    }
    if (shape.dash) {
      element.setAttribute('stroke-dasharray', dashesOf(shape).join(' '));
    }
    this._parent.append(element);
  }
}

function roundTenth(value: number): string {
  return String(Math.round(value * 10) / 10);
}
