/** Colours in a notation that every SVG reader understands, and theme colours without a page. */
import { FONT_FALLBACK } from '../graph/style/metrics';
import { TOKENS, type ColorToken } from '../graph/style/boxColors';
import type { IPalette } from '../graph/style/themePalette';

export interface IPlainColor {
  /** `#rrggbb`. */
  readonly color: string;
  /** 0 … 1. */
  readonly opacity: number;
}

/** Fallback for an unknown notation, visible on a light and on a dark background. */
const GREY: IPlainColor = { color: '#888888', opacity: 1 };

function hex(parts: readonly number[]): string {
  const bytes = parts.map(channel =>
    Math.max(0, Math.min(255, Math.round(channel)))
  );
  return `#${bytes.map(byte => byte.toString(16).padStart(2, '0')).join('')}`;
}

function ofHex(digits: string): IPlainColor {
  const wide =
    digits.length <= 4
      ? [...digits].map(digit => digit + digit)
      : (digits.match(/../g) ?? []);
  const bytes = wide.map(pair => parseInt(pair, 16));
  return { color: hex(bytes.slice(0, 3)), opacity: (bytes[3] ?? 255) / 255 };
}

/** Parses `12`, `40%` and `0.5` as shares of `unit`. */
function amount(text: string, unit: number): number {
  return text.endsWith('%')
    ? (parseFloat(text) / 100) * unit
    : parseFloat(text);
}

/**
 * Converts a CSS colour to `#rrggbb` and an opacity: SVG readers other than browsers do not support
 * `rgb(… / …)`. Supports the formats of computed colours: hex, `rgb`, `rgba` and `color(srgb …)`.
 */
export function plainColor(css: string): IPlainColor {
  const text = css.trim().toLowerCase();
  const digits = /^#([\da-f]{3,4}|[\da-f]{6}|[\da-f]{8})$/.exec(text);
  if (digits) {
    return ofHex(digits[1]);
  }
  const call = /^(?:rgba?\(|color\(srgb )(.*)\)$/.exec(text);
  const parts = call?.[1].split(/[\s,/]+/).filter(channel => channel) ?? [];
  if (parts.length < 3) {
    return GREY;
  }
  const unit = text.startsWith('color') ? 255 : 1;
  const bytes = parts
    .slice(0, 3)
    .map(channel => amount(channel, 255 / unit) * unit);
  const opacity = parts[3] === undefined ? 1 : amount(parts[3], 1);
  return [...bytes, opacity].some(Number.isNaN)
    ? GREY
    : { color: hex(bytes), opacity };
}

/** A JupyterLab variable with a fallback. */
const VARIABLE = /^var\(--[\w-]+,\s*(.+)\)$/;

/**
 * The token colours that a style sheet defines outside JupyterLab, for drawing without a page. Throws if
 * a token has none.
 */
export function sheetPalette(
  sheet: string,
  dark: boolean,
  font: string = FONT_FALLBACK
): IPalette {
  const colors = new Map<string, string>();
  for (const [, selector, body] of sheet.matchAll(/([^{}]+)\{([^{}]*)\}/g)) {
    const forDark = /data-jp-theme-light=["']false/.test(selector);
    // A rule with `>` applies only inside a viewer.
    const isToken = /(?<!> )\.oad-graph/.test(selector);
    if (!isToken || (forDark && !dark)) {
      continue;
    }
    for (const [, token, value] of body.matchAll(
      /(--oad-[\w-]+):\s*([^;]+);/g
    )) {
      colors.set(token, VARIABLE.exec(value.trim())?.[1] ?? value.trim());
    }
  }
  for (const token of TOKENS) {
    if (!colors.has(token)) {
      throw new Error(`The style sheet has no ${token}.`);
    }
  }
  return { color: (paint: ColorToken) => colors.get(paint) ?? paint, font };
}
