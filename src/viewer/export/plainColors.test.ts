import { describe, expect, it } from 'vitest';
import SHEET from '../../../style/graph.css?raw';
import { TOKENS } from '../graph/style/boxColors';
import { plainColor, sheetPalette } from './plainColors';

describe('plain colours', () => {
  it.each([
    ['#fff', '#ffffff', 1],
    ['#335e96', '#335e96', 1],
    ['#33669980', '#336699', 0.502],
    ['rgb(1, 2, 3)', '#010203', 1],
    ['rgba(66, 92, 130, 0.04)', '#425c82', 0.04],
    ['rgb(66 92 130 / 4%)', '#425c82', 0.04],
    ['color(srgb 1 0.5 0 / 0.25)', '#ff8000', 0.25],
    ['RGB(300 0 0)', '#ff0000', 1]
  ])('%s', (css, color, opacity) => {
    const parsed = plainColor(css);
    expect(parsed.color).toBe(color);
    expect(parsed.opacity).toBeCloseTo(opacity, 3);
  });

  it.each(['', 'url(#x)', 'red;}', 'rgb(a b c)', '#12345', 'rgb(1,2)'])(
    'reject anything else: %s',
    css => expect(plainColor(css)).toEqual({ color: '#888888', opacity: 1 })
  );
});

describe('palette of the style sheet', () => {
  it.each([false, true])('has every colour, dark: %s', dark => {
    const palette = sheetPalette(SHEET, dark);
    for (const token of TOKENS) {
      const css = palette.color(token);
      expect(css, token).toMatch(/^(#[\da-f]{3,6}|rgb\()/);
      const parsed = plainColor(css);
      expect(parsed, token).not.toEqual({ color: '#888888', opacity: 1 });
    }
    expect(palette.color('#123456')).toBe('#123456');
  });

  it('differs between light and dark', () => {
    const [light, dark] = [
      sheetPalette(SHEET, false),
      sheetPalette(SHEET, true)
    ];
    expect(light.color('--oad-ground')).toBe('#fff');
    expect(dark.color('--oad-ground')).toBe('#151a21');
  });

  it('is the same from a sheet serialised by a browser, with other rules', () => {
    const sheet = SHEET.replaceAll("'", '"').concat(
      '.oad-GraphHost > .oad-graph { --oad-text-quiet: inherit; }'
    );
    for (const dark of [false, true]) {
      const [a, b] = [sheetPalette(SHEET, dark), sheetPalette(sheet, dark)];
      expect(TOKENS.map(b.color)).toEqual(TOKENS.map(a.color));
    }
  });

  it('fails on a sheet without colours', () => {
    expect(() => sheetPalette('.oad-graph {}', false)).toThrow('--oad-');
  });
});
