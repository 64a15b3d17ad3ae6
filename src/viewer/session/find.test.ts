import { describe, expect, test } from 'vitest';
import { buildTree, decode } from '../../core';
import { testPayload } from '../testing/payload';
import { findEntities } from './find';
import { splitQuery } from './query';

const tree = buildTree(decode(testPayload()));

describe('numeric bounds', () => {
  test.each([
    ['macs>1.5K', { metric: 'macs', relation: '>', limit: 1500 }],
    ['params>=1e2', { metric: 'params', relation: '>=', limit: 100 }],
    [
      'activation<2MB',
      { metric: 'activation_bytes', relation: '<', limit: 2e6 }
    ]
  ])('%s is one', (text, bound) => {
    expect(splitQuery(`a ${text} b`)).toEqual({
      words: 'a b',
      bounds: [bound]
    });
  });

  test.each(['colour>3', 'macs>', '>5', 'macs>1e999', 'x=1'])(
    '%s is a word',
    text => {
      expect(splitQuery(text)).toEqual({ words: text, bounds: [] });
    }
  );

  test('select nodes; unknown numbers satisfy none', () => {
    expect(findEntities(tree, 'macs>1500')).toEqual([2]);
    expect(findEntities(tree, 'macs<1500')).toEqual([0, 1, 3]);
    expect(findEntities(tree, 'conv macs<=1000')).toEqual([0]);
  });
});

test('words find nodes and blocks', () => {
  expect(findEntities(tree, 'conv_1')).toEqual([2]);
  expect(findEntities(tree, 'block.0')).toContain(6);
  expect(findEntities(tree, '   ')).toEqual([]);
});
