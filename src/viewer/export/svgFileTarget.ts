/** Writes primitives as a standalone SVG file, without scripts, style sheets or external resources. */
import type { ColorToken } from '../graph/style/boxColors';
import {
  dashesOf,
  type IShape,
  type ITextStyle
} from '../graph/draw/drawTarget';
import type { TextMeasure } from '../graph/text/textMeasure';
import { escapeInvisible } from '../ui/safeText';
import type { IPalette } from '../graph/style/themePalette';
import { type IPlainColor, plainColor } from './plainColors';
import type { IPageTarget } from './pageTarget';
import { ownValue } from '../../core/base/ownValue';

/** Characters that XML 1.0 does not allow, escaped or not. */
const FORBIDDEN =
  // eslint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;'
};

/** Escapes a name for use as text or attribute in XML. */
export function xml(text: string): string {
  return text
    .replace(FORBIDDEN, '\ufffd')
    .replace(/[&<>"']/g, char => ownValue(ESCAPES, char) ?? '');
}

/** Two decimals, no trailing zeros. */
function formatNumber(value: number): string {
  return String(Math.round(value * 100) / 100);
}

export class SvgFileTarget implements IPageTarget {
  private readonly _parts: string[] = [];
  private readonly _colors = new Map<ColorToken, IPlainColor>();

  constructor(
    private readonly _palette: IPalette,
    private readonly _measure: TextMeasure
  ) {}

  rect(
    x: number,
    y: number,
    w: number,
    h: number,
    r: number,
    shape: IShape
  ): void {
    const offset = `${x ? ` x="${formatNumber(x)}"` : ''}${y ? ` y="${formatNumber(y)}"` : ''}`;
    const round = r ? ` rx="${formatNumber(r)}"` : '';
    this._parts.push(
      `<rect${offset} width="${formatNumber(w)}" height="${formatNumber(h)}"${round}${this._look(shape)}/>`
    );
  }

  path(d: string, shape: IShape): void {
    this._parts.push(`<path d="${xml(d)}"${this._look(shape)}/>`);
  }

  text(x: number, y: number, text: string, style: ITextStyle): void {
    const { size, weight, anchor, opacity = 1 } = style;
    const fill = this._color(style.fill);
    const alpha = fill.opacity * opacity;
    // A font other than the measured one must not overflow the box.
    const width = this._measure.width(text, size, weight);
    this._parts.push(
      `<text x="${formatNumber(x)}" y="${formatNumber(y)}" font-size="${formatNumber(size)}" fill="${fill.color}"` +
        (alpha < 1 ? ` fill-opacity="${formatNumber(alpha)}"` : '') +
        (weight && weight !== 400 ? ` font-weight="${weight}"` : '') +
        (anchor && anchor !== 'start' ? ` text-anchor="${anchor}"` : '') +
        (text.length > 1
          ? ` textLength="${formatNumber(width)}" lengthAdjust="spacingAndGlyphs"`
          : '') +
        `>${xml(text)}</text>`
    );
  }

  push(x: number, y: number, k: number, title = ''): void {
    const scale = k === 1 ? '' : ` scale(${Math.round(k * 1e6) / 1e6})`;
    this._parts.push(
      `<g transform="translate(${formatNumber(x)},${formatNumber(y)})${scale}">`
    );
    if (title) {
      this._parts.push(`<title>${xml(escapeInvisible(title))}</title>`);
    }
  }

  clip(x: number, y: number, w: number, h: number): void {
    // Files embedded in one page share their ids, so equal ids must mean equal rectangles.
    const id = ['clip', x, y, w, h].map(value =>
      String(value).replace('.', '_')
    );
    this._parts.push(
      `<clipPath id="${id.join('-')}"><rect x="${formatNumber(x)}" y="${formatNumber(y)}"` +
        ` width="${formatNumber(w)}" height="${formatNumber(h)}"/></clipPath>` +
        `<g clip-path="url(#${id.join('-')})">`
    );
  }

  pop(): void {
    this._parts.push('</g>');
  }

  /** The complete file. */
  file(width: number, height: number, title: string): string {
    const size = `width="${formatNumber(width)}" height="${formatNumber(height)}"`;
    const head =
      `<svg xmlns="http://www.w3.org/2000/svg" ${size}` +
      ` viewBox="0 0 ${formatNumber(width)} ${formatNumber(height)}" role="img" xml:space="preserve"` +
      ` font-family="${xml(this._palette.font)}"` +
      ' stroke-linecap="round" stroke-linejoin="round">' +
      `<title>${xml(escapeInvisible(title))}</title>`;
    return [
      '<?xml version="1.0" encoding="UTF-8"?>',
      head,
      ...this._parts,
      '</svg>',
      ''
    ].join('\n');
  }

  private _look(shape: IShape): string {
    const { opacity = 1 } = shape;
    const fill = shape.fill ? this._color(shape.fill) : null;
    const stroke = shape.stroke ? this._color(shape.stroke) : null;
    const paintAttributes = (name: string, paint: IPlainColor): string => {
      const alpha = paint.opacity * opacity;
      const weak = alpha < 1 ? ` ${name}-opacity="${formatNumber(alpha)}"` : '';
      return ` ${name}="${paint.color}"${weak}`;
    };
    return (
      (fill ? paintAttributes('fill', fill) : ' fill="none"') +
      (stroke ? paintAttributes('stroke', stroke) : '') +
      (stroke && shape.width
        ? ` stroke-width="${formatNumber(shape.width)}"`
        : '') +
      (shape.dash ? ` stroke-dasharray="${dashesOf(shape).join(' ')}"` : '')
    );
  }

  private _color(paint: ColorToken): IPlainColor {
    let color = this._colors.get(paint);
    if (!color) {
      color = plainColor(this._palette.color(paint));
      this._colors.set(paint, color);
    }
    return color;
  }
}
