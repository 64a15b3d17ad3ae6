import { describe, expect, it } from 'vitest';
import { decodePayload } from '../model/decodePayload';
import { findMatches } from './queryMatcher';
import { parseQuery } from './queryParser';
import { PayloadBuilder } from '../testing/builder';
import { bertPayload, llamaPayload } from '../testing/payloads';
import { buildTree } from '../tree/groupTree';
import type { ITree } from '../types';

const treeOf = (payload = bertPayload(2)) => buildTree(decodePayload(payload));

function search(tree: ITree, text: string): number[] {
  const { query } = parseQuery(text);
  return query ? findMatches(tree, query) : [];
}

describe('search', () => {
  const tree = treeOf();
  const { model } = tree;
  const types = (query: string) =>
    search(tree, query).map(entity =>
      entity < model.nodeCount
        ? model.opType(entity)
        : tree.groupLabel[entity - model.nodeCount]
    );

  it('finds operator types case-insensitively, exact matches first', () => {
    const hits = types('GATHER');
    expect(hits[0]).toBe('Gather');
    const add = types('add');
    const allTypes = Array.from(model.nodeOp.keys(), model.opType);
    expect(add.length).toBe(allTypes.filter(type => type === 'Add').length);
    expect(new Set(add)).toEqual(new Set(['Add']));
  });

  it('finds groups by label and class', () => {
    expect(types('encoder')[0]).toBe('encoder');
    expect(types('BertIntermediate').slice(0, 2)).toEqual([
      'intermediate',
      'intermediate'
    ]);
  });

  it('requires every word', () => {
    const hits = types('layer.1 softmax');
    expect(hits).toEqual(['Softmax']);
    expect(types('softmax nowhere')).toEqual([]);
  });

  it('matches quoted words exactly', () => {
    expect(types('"soft"')).toEqual([]);
    expect(types('"softmax"')).toEqual(['Softmax', 'Softmax']);
    const inLayer = search(tree, '"layer.1"');
    expect(inLayer.length).toBeGreaterThan(10);
  });

  it('finds shapes, element types and tensor names', () => {
    const b = new PayloadBuilder();
    const [y] = b.add('Conv', [b.input('x')], { shape: [1, 64, 56, 56] });
    b.add('Relu', [y], { shape: [2, 2] });
    const small = treeOf(b.finish());
    const hits = (query: string) => search(small, query);
    expect(hits('1×64×56')).toEqual([0, 1]);
    expect(hits('64x56 conv')).toEqual([0]);
    expect(hits('float32')).toEqual([0, 1]);
    expect(hits('relu_1_out0')).toEqual([1]);
  });

  it('never finds Constant nodes and nothing for an empty query', () => {
    expect(types('constant')).toEqual([]);
    expect(search(tree, '   ')).toEqual([]);
  });

  it('keeps the order of equally good matches', () => {
    const hits = search(tree, 'add');
    expect(hits.length).toBeGreaterThan(5);
    expect(hits).toEqual(hits.slice().sort((a, b) => a - b));
  });

  it('searches a large model', () => {
    const large = treeOf(llamaPayload(200));
    const hits = search(large, 'layers.123 softmax');
    expect(hits.length).toBe(1);
    expect(large.path(hits[0])).toContain('layers.123');
  });
});
