import { describe, expect, test } from 'vitest';
import { buildTree, decodePayload, parseQuery } from '../../core';
import { testPayload } from '../testing/payload';
import { IDENTITY } from '../i18n/translate';
import { findMatches } from '../../core/query/queryMatcher';
import type { ITree } from '../../core/types';
import { queryMessage } from './queryMessage';

function findEntities(tree: ITree, text: string): number[] {
  const { query } = parseQuery(text);
  return query === null ? [] : findMatches(tree, query);
}

const tree = buildTree(decodePayload(testPayload()));

test('conditions on numbers select nodes; unknown values never match', () => {
  expect(findEntities(tree, 'macs>1500')).toEqual([2]);
  expect(findEntities(tree, 'macs<1500')).toEqual([0, 1, 3]);
  expect(findEntities(tree, 'conv macs<=1000')).toEqual([0]);
});

test('words find nodes and blocks', () => {
  expect(findEntities(tree, 'conv_1')).toEqual([2]);
  expect(findEntities(tree, 'block.0')).toContain(6);
  expect(findEntities(tree, '   ')).toEqual([]);
});

describe('an invalid query shows its error', () => {
  test.each([
    ['colour>3', /Unknown field “colour”.*op, .*macs/],
    ['macs>many', /“many” is not a number/],
    ['op>3', /not >/],
    ['conv &', /missing at the end/],
    ['& conv', /missing before “&”/],
    ['(conv', /Missing closing/],
    ['>3', /Expected a field/],
    ['macs>', /Expected a value/],
    ['macs~3', /not ~/],
    ['a)', /Unmatched/],
    ['('.repeat(99), /too deeply/]
  ])('%s', (text, message) => {
    const { fault } = parseQuery(text);
    expect(fault && queryMessage(fault, IDENTITY)).toMatch(message);
    expect(findEntities(tree, text)).toEqual([]);
  });
});
