/** Primitives as the text of a standalone SVG file: no script, no style sheet, nothing from outside. */
import type { Paint } from '../graph/paint';
import { dashesOf, type IShape, type ITextStyle } from '../graph/primitives';
import type { TextMeasure } from '../graph/text';
import { visible } from '../ui/text';
import type { IPalette } from '../graph/theme';
import { type IPlainColor, plainColor } from './colors';
import type { IPageSink } from './sink';

/** What XML 1.0 cannot hold, escaped or not. */
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

/** A name as text or attribute of an XML file. */
export function xml(text: string): string {
  return text
    .replace(FORBIDDEN, '\ufffd')
    .replace(/[&<>"']/g, char => ESCAPES[char]);
}

/** Two decimals, no trailing zeros. */
function num(value: number): string {
  return String(Math.round(value * 100) / 100);
}

export class SvgFile implements IPageSink {
  private readonly parts: string[] = [];
  private readonly colors = new Map<Paint, IPlainColor>();

  constructor(
    private readonly palette: IPalette,
    private readonly measure: TextMeasure
  ) {}

  rect(
    x: number,
    y: number,
    w: number,
    h: number,
    r: number,
    shape: IShape
  ): void {
    const place = `${x ? ` x="${num(x)}"` : ''}${y ? ` y="${num(y)}"` : ''}`;
    const round = r ? ` rx="${num(r)}"` : '';
    this.parts.push(
      `<rect${place} width="${num(w)}" height="${num(h)}"${round}${this.look(shape)}/>`
    );
  }

  path(d: string, shape: IShape): void {
    this.parts.push(`<path d="${xml(d)}"${this.look(shape)}/>`);
  }

  text(x: number, y: number, text: string, style: ITextStyle): void {
    const { size, weight, anchor, opacity = 1 } = style;
    const fill = this.color(style.fill);
    const seen = fill.opacity * opacity;
    // Another font than the one that was measured must not run over the box.
    const width = this.measure.width(text, size, weight);
    this.parts.push(
      `<text x="${num(x)}" y="${num(y)}" font-size="${num(size)}" fill="${fill.color}"` +
        (seen < 1 ? ` fill-opacity="${num(seen)}"` : '') +
        (weight && weight !== 400 ? ` font-weight="${weight}"` : '') +
        (anchor && anchor !== 'start' ? ` text-anchor="${anchor}"` : '') +
        (text.length > 1
          ? ` textLength="${num(width)}" lengthAdjust="spacingAndGlyphs"`
          : '') +
        `>${xml(text)}</text>`
    );
  }

  push(x: number, y: number, k: number, title = ''): void {
    const scale = k === 1 ? '' : ` scale(${Math.round(k * 1e6) / 1e6})`;
    this.parts.push(`<g transform="translate(${num(x)},${num(y)})${scale}">`);
    if (title) {
      this.parts.push(`<title>${xml(visible(title))}</title>`);
    }
  }

  clip(x: number, y: number, w: number, h: number): void {
    // Files shown in one page share their ids: equal ids are equal rectangles.
    const id = ['clip', x, y, w, h].map(part => String(part).replace('.', '_'));
    this.parts.push(
      `<clipPath id="${id.join('-')}"><rect x="${num(x)}" y="${num(y)}"` +
        ` width="${num(w)}" height="${num(h)}"/></clipPath>` +
        `<g clip-path="url(#${id.join('-')})">`
    );
  }

  pop(): void {
    this.parts.push('</g>');
  }

  /** The whole file. */
  file(width: number, height: number, title: string): string {
    const size = `width="${num(width)}" height="${num(height)}"`;
    const head =
      `<svg xmlns="http://www.w3.org/2000/svg" ${size}` +
      ` viewBox="0 0 ${num(width)} ${num(height)}" role="img" xml:space="preserve"` +
      ` font-family="${xml(this.palette.font)}"` +
      ' stroke-linecap="round" stroke-linejoin="round">' +
      `<title>${xml(visible(title))}</title>`;
    return [
      '<?xml version="1.0" encoding="UTF-8"?>',
      head,
      ...this.parts,
      '</svg>',
      ''
    ].join('\n');
  }

  private look(shape: IShape): string {
    const { opacity = 1 } = shape;
    const fill = shape.fill ? this.color(shape.fill) : null;
    const stroke = shape.stroke ? this.color(shape.stroke) : null;
    const part = (name: string, paint: IPlainColor): string => {
      const seen = paint.opacity * opacity;
      const weak = seen < 1 ? ` ${name}-opacity="${num(seen)}"` : '';
      return ` ${name}="${paint.color}"${weak}`;
    };
    return (
      (fill ? part('fill', fill) : ' fill="none"') +
      (stroke ? part('stroke', stroke) : '') +
      (stroke && shape.width ? ` stroke-width="${num(shape.width)}"` : '') +
      (shape.dash ? ` stroke-dasharray="${dashesOf(shape).join(' ')}"` : '')
    );
  }

  private color(paint: Paint): IPlainColor {
    let color = this.colors.get(paint);
    if (!color) {
      color = plainColor(this.palette.color(paint));
      this.colors.set(paint, color);
    }
    return color;
  }
}
