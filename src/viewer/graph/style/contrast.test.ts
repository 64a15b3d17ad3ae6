/** Contrast of all texts in the graph, which no page scanner can check. */
import { describe, expect, it } from 'vitest';
import SHEET from '../../../../style/graph.css?raw';
import { contrast } from '../../../core/base/colorScale';
import {
  plainColor,
  sheetPalette,
  type IPlainColor
} from '../../export/plainColors';
import { rampOf } from '../../overlays/heatmapRamp';
import { CATEGORIES } from './boxColors';

/** WCAG 2.1: 1.4.3 for text, 1.4.11 for graphics needed to understand the graph. */
const TEXT = 4.5;
const GRAPHICS = 3;

function blend(top: IPlainColor, ground: string): string {
  const share = top.opacity;
  const bytes = (hex: string): number[] =>
    [1, 3, 5].map(start => parseInt(hex.slice(start, start + 2), 16));
  const below = bytes(ground);
  const mixed = bytes(top.color).map((byte, i) =>
    Math.round(byte * share + below[i] * (1 - share))
  );
  return `#${mixed.map(byte => byte.toString(16).padStart(2, '0')).join('')}`;
}

describe.each([
  ['light', false],
  ['dark', true]
])('contrast, %s theme', (_, dark) => {
  const palette = sheetPalette(SHEET, dark);
  const ground = plainColor(palette.color('--oad-ground')).color;
  const solid = (token: string, below = ground): string =>
    blend(plainColor(palette.color(token)), below);
  const text = (token: string, below: string): number =>
    contrast(solid(token, below), below);

  it.each([...CATEGORIES])('of the title of a box of %s', category => {
    const head = solid(`--oad-cat-${category}`);
    expect(text('--oad-on-category', head)).toBeGreaterThanOrEqual(TEXT);
  });

  it('of text and secondary text on every background', () => {
    // Panels are nested; deeper nesting is rare.
    let panel = ground;
    const grounds = [ground];
    for (let depth = 0; depth < 4; depth++) {
      panel = solid('--oad-panel', panel);
      grounds.push(panel);
    }
    for (const below of [...grounds, solid('--oad-card')]) {
      expect(text('--oad-text', below)).toBeGreaterThanOrEqual(TEXT);
      expect(text('--oad-text-quiet', below)).toBeGreaterThanOrEqual(TEXT);
    }
    for (const card of [
      '--oad-card-zero',
      '--oad-card-unknown',
      '--oad-pill'
    ]) {
      expect(text('--oad-text', solid(card))).toBeGreaterThanOrEqual(TEXT);
    }
  });

  it('of text on every colour of a heatmap', () => {
    const { color, textColor } = rampOf(dark);
    for (let step = 0; step <= 63; step++) {
      const share = step / 63;
      expect(contrast(textColor(share), color(share))).toBeGreaterThanOrEqual(
        TEXT
      );
    }
  });

  it('of edges, rings and marks on the background', () => {
    for (const token of ['--oad-edge', '--oad-accent', '--oad-hit']) {
      const ratio = contrast(solid(token), ground);
      expect(ratio, token).toBeGreaterThanOrEqual(GRAPHICS);
    }
  });
});
