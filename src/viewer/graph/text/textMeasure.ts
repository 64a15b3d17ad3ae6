/** Text widths from measured advances of single characters, and truncation to a width. */
import { escapeInvisible } from '../../ui/safeText';
import { advanceOf } from './helveticaAdvances';
import { FONT_FALLBACK } from '../style/metrics';

/** Names come from untrusted files; nothing longer than this is measured or drawn. */
const MAX_CHARACTERS = 160;
/** Advances are measured at this size and scaled. */
const PROBE_SIZE = 100;

/** The advance of one character. */
type CharAdvance = (char: string) => number;

function probe(weight: number, family: string): CharAdvance {
  const estimate: CharAdvance = char => PROBE_SIZE * advanceOf(char, weight);
  if (typeof document === 'undefined') {
    return estimate;
  }
  let context: CanvasRenderingContext2D | null = null;
  try {
    context = document.createElement('canvas').getContext('2d');
  } catch {
    // jsdom without the canvas package throws "not implemented".
    return estimate;
  }
  if (!context) {
    return estimate;
  }
  const ctx = context;
  ctx.font = `${weight} ${PROBE_SIZE}px ${family}`;
  return char => ctx.measureText(char).width;
}

/** Adds up cached advances, ignoring kerning, so a width is never much too small. */
export class TextMeasure {
  constructor(private readonly _family: string = FONT_FALLBACK) {}

  width(text: string, size: number, weight = 400): number {
    const table = this._table(weight);
    let sum = 0;
    for (const char of text) {
      let advance = table.advances.get(char);
      if (advance === undefined) {
        advance = table.measure(char);
        table.advances.set(char, advance);
      }
      sum += advance;
    }
    return (sum * size) / PROBE_SIZE;
  }

  /** The text, or its start and end around `…` if it is wider than `max`. */
  shorten(text: string, max: number, size: number, weight = 400): string {
    const clean = cleanText(text);
    if (this.width(clean, size, weight) <= max) {
      return clean;
    }
    const chars = Array.from(clean);
    let length = Math.floor(
      (chars.length * max) / this.width(clean, size, weight)
    );
    for (; length > 1; length--) {
      // The end distinguishes `layer.1` from `layer.11`, so it gets most of a small width.
      const head = length < 5 ? Math.floor(length / 3) : Math.ceil(length / 2);
      const cut = `${chars.slice(0, head).join('')}…${chars.slice(chars.length - (length - head)).join('')}`;
      if (this.width(cut, size, weight) <= max) {
        return cut;
      }
    }
    return '…';
  }

  private _table(weight: number): {
    measure: CharAdvance;
    advances: Map<string, number>;
  } {
    let table = this._tables.get(weight);
    if (!table) {
      table = { measure: probe(weight, this._family), advances: new Map() };
      this._tables.set(weight, table);
    }
    return table;
  }

  private readonly _tables = new Map<
    number,
    { measure: CharAdvance; advances: Map<string, number> }
  >();
}

/**
 * Removes line breaks and the middle of very long text; escapes invisible and bidirectional control
 * characters.
 */
export function cleanText(text: string): string {
  const line =
    text.length > 4 * MAX_CHARACTERS ? text.slice(0, 4 * MAX_CHARACTERS) : text;
  const clean = escapeInvisible(
    // eslint-disable-next-line no-control-regex
    line.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ')
  );
  return clean.length > MAX_CHARACTERS
    ? `${clean.slice(0, MAX_CHARACTERS / 2)}…${clean.slice(-MAX_CHARACTERS / 2)}`
    : clean;
}

let shared: { family: string; measure: TextMeasure } | null = null;

let stale = true;

/** Reads the font again on next use: a theme may change it. */
export function invalidatePageFont(): void {
  stale = true;
}

/**
 * The measure for the page's interface font. The font is read when a surface is created and when the
 * theme changes, not on every use, because it forces the browser to recompute styles.
 */
export function pageTextMeasure(): TextMeasure {
  if (!shared || stale) {
    const family = pageFont();
    if (shared?.family !== family) {
      shared = { family, measure: new TextMeasure(family) };
    }
    stale = false;
  }
  return shared.measure;
}

/** The page's interface font, as set by JupyterLab. */
export function pageFont(): string {
  if (
    typeof document === 'undefined' ||
    typeof getComputedStyle === 'undefined'
  ) {
    return FONT_FALLBACK;
  }
  const named = getComputedStyle(document.documentElement)
    .getPropertyValue('--jp-ui-font-family')
    .trim();
  return named || FONT_FALLBACK;
}
