import { describe, expect, it } from 'vitest';
import { buildTree, decodePayload } from '../../../core';
import { CardContents } from './cardContents';
import { entityDescription } from '../a11y/accessibleNames';
import { createSizer } from './cardSizer';
import { CARD_LINE_H, MAX_CARD, COMPACT_CARD } from '../style/metrics';
import { categoryColorToken } from '../style/boxColors';
import { encoderPayload, PayloadMaker } from '../testing/payload';
import { cleanText, TextMeasure } from '../text/textMeasure';

const model = decodePayload(encoderPayload(2));
const tree = buildTree(model);
const cards = new CardContents(model, tree);
const find = (op: string): number =>
  Array.from({ length: model.nodeCount }, (_, i) => i).find(
    i => model.opType(i) === op
  )!;

describe('cards', () => {
  it('shows the weights and the costs of a layer', () => {
    const card = cards.of(find('Conv'));
    expect(card.title).toBe('Conv');
    // The kind of space before a unit is up to the core.
    const lines = card.lines.map(l => l.text.replace(/\s/g, ' '));
    expect(lines).toEqual([
      'W 768×3×16×16 · B 768',
      '116 M MACs · 591 K params'
    ]);
  });

  it('has a compact form without weights and with a limited width', () => {
    const content = cards.of(find('Conv'));
    const short = cards.short(find('Conv'));
    expect(short.lines.map(line => line.kind)).toEqual(['cost']);
    expect(short.h).toBe(content.h - CARD_LINE_H);
    expect(short.w).toBe(Math.min(content.w, COMPACT_CARD));
    expect(cards.fitting(find('Conv'), content.h)).toBe(content);
    expect(cards.fitting(find('Conv'), short.h)).toEqual(short);
    const relu = cards.of(find('Relu'));
    expect(cards.short(find('Relu'))).toEqual(relu);
    const sizer = createSizer(model, tree);
    expect(sizer.node(find('Conv'), true)).toEqual({ w: short.w, h: short.h });
  });

  it('shows the role of a block instead of a generic class', () => {
    const group = tree.groupType.findIndex(type => type !== '');
    const scope = model.payload.scopes.label.indexOf(tree.groupLabel[group]);
    const role = model.payload.scopes.label.map((_, i) =>
      i === scope ? 'MLP' : ''
    );
    const scopes = { ...model.payload.scopes, role };
    const described = decodePayload({ ...model.payload, scopes });
    const card = new CardContents(described, buildTree(described)).of(
      model.nodeCount + group
    );
    expect(card.title).toBe('MLP');
    expect(card.instance).toBe(tree.groupLabel[group]);
  });

  it('shows the main attribute of a node if there is room', () => {
    const relu = find('Relu');
    const nodes = { ...model.payload.nodes, settings: { [relu]: '0 … 6' } };
    const renamed = decodePayload({ ...model.payload, nodes });
    const set = new CardContents(renamed, buildTree(renamed));
    const card = set.of(relu);
    expect(card.instance).toBe('0 … 6');
    expect(card.w).toBeGreaterThan(cards.of(relu).w);
    // A short setting must not widen compact cards.
    expect(set.short(relu).w).toBe(cards.short(relu).w);
    expect(entityDescription(renamed, tree, relu)).toMatch(/^Relu\b.*, 0 … 6/);
  });

  it('keeps elementwise nodes small, even with a bias', () => {
    expect(cards.of(find('Relu')).lines).toEqual([]);
    expect(cards.of(find('Add')).lines).toEqual([]);
    expect(cards.of(find('Add')).h).toBeLessThan(cards.of(find('Conv')).h);
  });

  it('shows class, instance, size and share of a group', () => {
    const group = tree.groupType.indexOf('EncoderLayer');
    const card = cards.of(model.nodeCount + group);
    expect([card.title, card.instance]).toEqual(['EncoderLayer', 'layer.0']);
    expect(card.lines[0].text).toMatch(/^22.nodes$/);
    expect(card.share).toBeGreaterThan(0.4);
    expect(card.share).toBeLessThan(0.5);
  });

  it('omits details that are switched off', () => {
    const contents = new CardContents(model, tree, {
      weights: false,
      names: true,
      costs: false
    });
    expect(contents.of(find('Conv')).lines).toEqual([
      { kind: 'name', text: '/model/patch/Conv' }
    ]);
  });

  it('fits the text, within bounds', () => {
    const sizer = createSizer(model, tree);
    const measure = new TextMeasure();
    for (let n = 0; n < model.nodeCount; n++) {
      const { w } = sizer.node(n);
      expect(w).toBeLessThanOrEqual(MAX_CARD);
      expect(w).toBeGreaterThan(
        Math.min(MAX_CARD - 1, measure.width(cards.of(n).title, 12.5, 600))
      );
    }
    expect(sizer.pill('x'.repeat(4000)).w).toBeLessThan(200);
  });

  it('has an accessible name with the texts shown', () => {
    expect(entityDescription(model, tree, find('Conv'))).toMatch(
      /^Conv \/model\/patch\/Conv, 116.M MACs, 591.K params$/
    );
  });

  it('truncates long names and cleans control characters', () => {
    const m = new PayloadMaker();
    const x = m.input('x', [1]);
    const convOutput = m.node({
      op: `A${'b'.repeat(100000)}`,
      name: 'n\n\u2028\u0000m',
      inputs: [x],
      shape: [1]
    });
    const odd = decodePayload(m.build([convOutput]));
    const card = new CardContents(odd, buildTree(odd)).of(0);
    expect(card.title.length).toBeLessThan(200);
    expect(card.w).toBeLessThanOrEqual(MAX_CARD);
    expect(cleanText('n\n\u2028\u0000m')).toBe('n m');
    // A bidirectional override that would show `evil` as `live`, and invisible characters.
    expect(cleanText('\u202eevil\u202c a\u200bb')).toBe(
      '\\u202eevil\\u202c a\\u200bb'
    );
  });
});

describe('text', () => {
  it('truncates a long name in the middle', () => {
    const measure = new TextMeasure();
    const short = measure.shorten(
      '/encoder/layer.11/attention/MatMul',
      100,
      10
    );
    expect(short).toMatch(/^\/enc.*….*Mul$/);
    expect(measure.width(short, 10)).toBeLessThanOrEqual(100);
    expect(measure.shorten('abc', 1, 10)).toBe('…');
  });
});

describe('colours', () => {
  it('use a default token for unknown categories', () => {
    expect(categoryColorToken('layer')).toBe('--oad-cat-layer');
    expect(categoryColorToken('url(javascript:alert(1))')).toBe(
      '--oad-cat-other'
    );
  });
});
