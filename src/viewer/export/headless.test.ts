// @vitest-environment jsdom
import { describe, expect, it, vi } from 'vitest';
import SHEET from '../../../style/graph.css?raw';
import type { GraphPayload } from '../../schema';
import { PayloadBuilder } from '../../core/testing/builder';
import { testPayload } from '../testing/payload';
import { headlessSvg, type IHeadlessOptions, TooManyBoxes } from './headless';
import { mergedSvg } from './headlessMerged';

const OPTIONS: IHeadlessOptions = {
  dark: false,
  overlay: 'auto',
  depth: 9,
  budget: 40,
  most: 1000
};
const HOSTILE = `</text><script>alert(1)</script>&"'<!--]]>\u0000\ud800\uffff`;

async function draw(
  payload: GraphPayload,
  options: Partial<IHeadlessOptions> = {}
): Promise<{ text: string; root: Element }> {
  // As on the command line: there is no document.
  vi.stubGlobal('document', undefined);
  let text = '';
  try {
    text = await headlessSvg(payload, SHEET, { ...OPTIONS, ...options });
  } finally {
    vi.unstubAllGlobals();
  }
  const parsed = new DOMParser().parseFromString(text, 'application/xml');
  expect(parsed.querySelector('parsererror')).toBeNull();
  return { text, root: parsed.documentElement };
}

const texts = (root: Element): string[] =>
  [...root.querySelectorAll('text')].map(text => text.textContent ?? '');

/** All elements that an SVG file may contain here. */
const PARTS = new Set('svg title g rect path text clipPath'.split(' '));

describe('image without a browser', () => {
  it('has every visible node, the model and its totals', async () => {
    const { root } = await draw(testPayload({ blocks: 3 }));
    const labels = texts(root);
    expect(labels.filter(text => text === 'Conv')).toHaveLength(3);
    expect(labels.filter(text => text === 'Relu')).toHaveLength(3);
    expect(labels).toContain(testPayload().model.name);
    const totals = labels.find(text => text.startsWith('7 nodes'));
    expect(totals).toMatch(/Parameters .* MACs .* FLOPs .* Weights/);
    expect(labels.some(text => /batch = 2 \(assumed\)/.test(text))).toBe(true);
    expect(labels.some(text => /Costs known for/.test(text))).toBe(true);
  });

  it('has chips for preparation, without separate boxes and edges', async () => {
    const b = new PayloadBuilder();
    const x = b.input('x');
    const m = b.input('m');
    const mask = ['Mask::plumbing'];
    const [u] = b.add('Cast', [m], { scope: mask });
    const [v] = b.add('Expand', [u], { scope: mask });
    const layer = ['layer:Layer'];
    const [y] = b.add('MatMul', [x], { scope: layer, macs: 8 });
    b.output(b.add('Add', [y, v], { scope: layer })[0]);
    for (const depth of [0, 1]) {
      const labels = texts((await draw(b.finish(), { depth })).root);
      expect(labels.includes('mask · 2')).toBe(depth === 0);
      expect(labels.includes('Mask')).toBe(depth > 0);
    }
  });

  it('uses only plain SVG elements, without scripts or links', async () => {
    for (const dark of [false, true]) {
      const { root, text } = await draw(testPayload(), { dark });
      for (const element of [root, ...root.querySelectorAll('*')]) {
        expect(PARTS.has(element.tagName)).toBe(true);
        for (const { name, value } of element.attributes) {
          expect(name).not.toMatch(/^(on|style$|class$|href$|xlink)/);
          expect(value).not.toMatch(
            /var\(|rgba?\(|color-mix|NaN|undefined|--oad/
          );
          if (/^(fill|stroke)$/.test(name)) {
            expect(value).toMatch(/^(none|#[\da-f]{6})$/);
          }
        }
      }
      expect(text.match(/url\(/g)).toEqual(
        text.match(/url\(#clip-/g)?.map(() => 'url(')
      );
      expect(text.match(/https?:/g)).toHaveLength(1);
    }
  });

  it('has a legend only with a heatmap', async () => {
    const { root } = await draw(testPayload(), { overlay: 'params' });
    expect(texts(root)).toContain('linear');
    expect(texts(root).some(text => /Param/.test(text))).toBe(true);
    const uncolored = await draw(testPayload(), { overlay: 'none' });
    expect(texts(uncolored.root)).not.toContain('linear');
  });

  it('shows names as text', async () => {
    const payload = testPayload({ name: HOSTILE });
    const hostile: GraphPayload = {
      ...payload,
      model: { ...payload.model, name: HOSTILE },
      ops: payload.ops.map(op => ({ ...op, type: `${op.type}${HOSTILE}` }))
    };
    const { root } = await draw(hostile);
    expect(root.querySelector('script')).toBeNull();
    expect(texts(root).some(text => text.includes('</text><script>'))).toBe(
      true
    );
  });

  it('sets the length of every text, for wider fonts', async () => {
    const { root } = await draw(testPayload());
    for (const text of root.querySelectorAll('text')) {
      if ((text.textContent ?? '').length > 1) {
        expect(Number(text.getAttribute('textLength'))).toBeGreaterThan(0);
      }
    }
  });

  it('keeps everything inside the page', async () => {
    const { root } = await draw(testPayload({ blocks: 4 }));
    const [, , w, h] = root.getAttribute('viewBox')!.split(' ').map(Number);
    expect(Number(root.getAttribute('width'))).toBe(w);
    const clip = root.querySelector('clipPath rect')!;
    const attribute = (name: string): number => Number(clip.getAttribute(name));
    expect(attribute('x') + attribute('width')).toBeLessThanOrEqual(w);
    expect(attribute('y') + attribute('height')).toBeLessThan(h);
  });

  it('expands the requested number of levels, within the limit', async () => {
    const closed = await draw(testPayload({ blocks: 5 }), { depth: 0 });
    const open = await draw(testPayload({ blocks: 5 }));
    expect(texts(closed.root)).not.toContain('Relu');
    expect(texts(open.root)).toContain('Relu');
    await expect(draw(testPayload({ blocks: 5 }), { most: 3 })).rejects.toThrow(
      TooManyBoxes
    );
  });
});

describe('image of a merged graph', () => {
  it('has shared and one-sided nodes, signs and a legend, but no totals', async () => {
    const [left, right] = [testPayload({ blocks: 3 }), testPayload()];
    const count = right.nodes.name.length;
    const pairs = Array.from({ length: count }, (_, pair) => pair);
    const columns = {
      verdict: 'similar architecture',
      score_macs: 0.8,
      score_nodes: 0.8,
      core_operators: [left.nodes.name.length, count],
      core_matched: count,
      left: left.nodes.name.map((_, node) => (node < count ? node : -1)),
      right: pairs,
      kinds: ['operator', 'attributes', 'shapes', 'precision'],
      changes: pairs.map(pair => (pair === 0 ? 0b1000 : 0)),
      main_left: pairs,
      main_right: pairs,
      details: {},
      interface: [],
      blocks: []
    };
    vi.stubGlobal('document', undefined);
    let text = '';
    try {
      text = await mergedSvg(left, right, columns, SHEET, OPTIONS);
    } finally {
      vi.unstubAllGlobals();
    }
    const root = new DOMParser().parseFromString(
      text,
      'application/xml'
    ).documentElement;
    const labels = texts(root);
    const signs = (sign: string): number =>
      labels.filter(label => label === sign).length;
    expect(labels.filter(label => label === 'Conv')).toHaveLength(3);
    // One of them is in the legend.
    expect(signs('◐')).toBe(2);
    expect(signs('−')).toBe(1 + left.nodes.name.length - count);
    expect(signs('+')).toBe(1);
    for (const state of ['same', 'other precision', 'removed', 'added']) {
      expect(labels).toContain(state);
    }
    expect(labels.some(label => /MACs|Parameters|No value/.test(label))).toBe(
      false
    );
    const dashes = [...root.querySelectorAll('path[stroke-dasharray]')].map(
      path =>
        `${path.getAttribute('stroke')} ${path.getAttribute('stroke-dasharray')}`
    );
    // The legend has one of each; the removed node had wires, and another wire bypasses it.
    for (const line of ['#3d5a1e 9 3 1.5 3', '#a03070 5 4']) {
      expect(dashes.filter(dash => dash === line).length).toBeGreaterThan(1);
    }
  });
});
