import { describe, expect, it } from 'vitest';
import { findMatches } from './queryMatcher';
import { decodePayload } from '../model/decodePayload';
import { parseQuery, queryNumber } from './queryParser';
import { PayloadBuilder } from '../testing/builder';
import { buildTree } from '../tree/groupTree';

/** 0 Conv → 1 Relu → 2 Conv → 3 Mystery, whose costs are unknown. */
function model() {
  const b = new PayloadBuilder();
  const x = b.input('x', ['batch', 3, 32, 32]);
  const scope = ['net:Net', 'stem:ConvBlock'];
  const [y] = b.add('Conv', [x, b.weight('w', [64, 3, 7, 7])], {
    scope,
    name: 'stem/conv',
    shape: ['batch', 64, 16, 16],
    params: 9408,
    macs: 2e8
  });
  const [z] = b.add('Relu', [y], {
    scope,
    name: 'stem/act',
    shape: ['batch', 64, 16, 16],
    macs: 0
  });
  const [u] = b.add('Conv', [z, b.weight('v', [256, 64, 1, 1])], {
    scope: ['net:Net', 'head:ConvBlock'],
    name: 'head/conv',
    shape: ['batch', 256, 16, 16],
    params: 16384,
    macs: 5e6
  });
  b.add('Mystery', [u], { name: 'odd(1)', shape: null, macs: null });
  return buildTree(decodePayload(b.finish()));
}

const tree = model();

function entities(text: string, within = tree): number[] {
  const { query, fault } = parseQuery(text);
  expect(fault).toBeNull();
  return query ? findMatches(within, query) : [];
}

function nodes(text: string): number[] {
  return entities(text)
    .filter(entity => entity < tree.model.nodeCount)
    .sort((a, b) => a - b);
}

function fault(text: string): [string, number, string] | null {
  const actual = parseQuery(text).fault;
  return actual && [actual.kind, actual.position, actual.text];
}

describe('conditions', () => {
  it.each<[string, number[]]>([
    ['op=Conv', [0, 2]],
    ['op=conv & macs>1e8', [0]],
    ['op=Conv macs > 1e8', [0]],
    ['op=Conv & macs>1e8 & in[0].shape[1]>=256', []],
    ['out[0].shape[1]>=256', [2]],
    ['in[0].shape[-1]=32', [0]],
    ['in[0].shape[0]=batch', [0, 1, 2, 3]],
    ['in[0].shape[0]!=batch', []],
    ['in[0].shape[1]=batch', []],
    ['in[1].shape=64x3x7x7', [0]],
    ['in[1].name=v', [2]],
    ['in[0].rank=4', [0, 1, 2, 3]],
    ['out[0].dtype=float32 op=Relu', [1]],
    ['dtype=float32 & params>0', [0, 2]],
    ['op=C*v', [0, 2]],
    ['op=*o*n*v', [0, 2]],
    ['op=Conv*v', []],
    ['op~ELU', [1]],
    ['op!=Conv', [1, 3]],
    ['name="odd(1)"', [3]],
    ['tag=ConvBlock', [0, 1, 2]],
    ['tag=net/stem', [0, 1]],
    ['tag=Net/ConvBlock', [0, 1, 2]],
    ['module~hea', [2]],
    ['weights≥40KB', [2]],
    ['bytes=128', [0, 1, 2]],
    ['intensity>1e6', [0]],
    ['macs=?', [3]],
    ['out[0].shape=?', [3]]
  ])('%s', (text, expected) => {
    expect(nodes(text)).toEqual(expected);
  });

  it('do not match unknown values, negated or not', () => {
    expect(nodes('macs>1e7')).toEqual([0]);
    expect(nodes('!(macs>1e7)')).toEqual([1, 2]);
    expect(nodes('!macs>1e7 | op=Mystery')).toEqual([1, 2, 3]);
    expect(nodes('macs>1e7 & op=Mystery')).toEqual([]);
    expect(nodes('!(macs>1e7 & op=Conv)')).toEqual([1, 2, 3]);
  });

  it('on numbers select nodes only, with words also groups', () => {
    expect(entities('macs>1')).toEqual([0, 2]);
    const matches = entities('stem macs>1e7');
    expect(matches).toHaveLength(2);
    expect(matches[0]).toBeGreaterThanOrEqual(tree.model.nodeCount);
    expect(matches[1]).toBe(0);
  });
});

describe('words', () => {
  it.each<[string, number[]]>([
    ['stem conv', [0]],
    ['"conv"', [0, 2]],
    ['"con"', []],
    ['stem | head', [0, 1, 2]],
    ['stem & !relu', [0]],
    ['!conv', [1, 3]],
    ['!!relu', [1]],
    ['(stem | head) & conv & !(params<1e4)', [2]],
    ['head | stem relu', [1, 2]],
    ['64x3x7x7', [0]],
    ['odd"(1)"', []],
    ['"odd(1)', [3]]
  ])('%s', (text, expected) => {
    expect(nodes(text)).toEqual(expected);
  });

  it('an empty query is none', () => {
    expect(parseQuery('  ')).toEqual({ query: null, fault: null });
  });
});

describe('errors have a kind and a position', () => {
  it.each<[string, string, number, string]>([
    ['colour>3', 'unknown-field', 0, 'colour'],
    ['conv & x=1', 'unknown-field', 7, 'x'],
    ['in[0].size>3', 'unknown-field', 0, 'in[0].size'],
    ['__proto__=1', 'unknown-field', 0, '__proto__'],
    ['macs>', 'no-value', 4, '>'],
    ['macs>&', 'no-value', 4, '>'],
    ['>5', 'no-field', 0, '>'],
    ['macs>1e999', 'not-a-number', 5, '1e999'],
    ['macs=lots', 'not-a-number', 5, 'lots'],
    ['macs!=?', 'not-a-number', 6, '?'],
    ['in[0].shape[0]>batch', 'not-a-number', 15, 'batch'],
    ['op>3', 'text-order', 2, '>'],
    ['macs~3', 'number-part', 4, '~'],
    ['conv &', 'no-term', 6, ''],
    ['conv & | relu', 'no-term', 7, '|'],
    ['| conv', 'no-term', 0, '|'],
    ['()', 'no-term', 1, ')'],
    ['!', 'no-term', 1, ''],
    ['(conv', 'unclosed', 0, '('],
    ['conv)', 'unopened', 4, ')']
  ])('%s', (text, kind, position, message) => {
    expect(fault(text)).toEqual([kind, position, message]);
  });

  it('report deep nesting instead of overflowing the stack', () => {
    expect(fault('('.repeat(5000) + 'a')?.[0]).toBe('too-deep');
    expect(fault('!'.repeat(100_000) + 'a')).toBeNull();
    const nested = `${'('.repeat(50)}relu${')'.repeat(50)}`;
    expect(nodes(nested)).toEqual([1]);
  });
});

describe('numbers', () => {
  it.each([
    ['1.5K', 1500],
    ['1e2', 100],
    ['2MB', 2e6],
    ['4KiB', 4096],
    ['.5g', 5e8],
    ['12b', 12],
    ['1e999', NaN],
    ['-1', NaN],
    ['0x10', NaN],
    ['', NaN]
  ])('%s', (text, value) => {
    expect(queryNumber(text)).toBe(value);
  });
});

it('fifty thousand nodes answer a condition', () => {
  const b = new PayloadBuilder();
  let x = b.input('x');
  for (let i = 0; i < 50_000; i++) {
    [x] = b.add(i % 2 ? 'Relu' : 'Conv', [x], { macs: i });
  }
  const large = buildTree(decodePayload(b.finish()));
  expect(entities('op=Conv & (macs>=49990 | macs=7 | macs=8)', large)).toEqual([
    8, 49990, 49992, 49994, 49996, 49998
  ]);
}, 60_000);
