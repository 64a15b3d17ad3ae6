import { describe, expect, test } from 'vitest';
import { buildTree, decode, parseQuery } from '../../core';
import { testPayload } from '../testing/payload';
import { IDENTITY } from '../translate';
import { findEntities } from './find';
import { queryMessage } from './queryMessage';

const tree = buildTree(decode(testPayload()));

test('numbers select nodes; unknown ones satisfy none', () => {
  expect(findEntities(tree, 'macs>1500')).toEqual([2]);
  expect(findEntities(tree, 'macs<1500')).toEqual([0, 1, 3]);
  expect(findEntities(tree, 'conv macs<=1000')).toEqual([0]);
});

test('words find nodes and blocks', () => {
  expect(findEntities(tree, 'conv_1')).toEqual([2]);
  expect(findEntities(tree, 'block.0')).toContain(6);
  expect(findEntities(tree, '   ')).toEqual([]);
});

describe('a wrong query is told', () => {
  test.each([
    ['colour>3', /no field “colour”.*op, .*macs/],
    ['macs>many', /“many” is no number/],
    ['op>3', /not by >/],
    ['conv &', /missing at the end/],
    ['& conv', /missing before “&”/],
    ['(conv', /not closed/],
    ['>3', /must stand a field/],
    ['macs>', /must stand a value/],
    ['macs~3', /not by ~/],
    ['a)', /not opened/],
    ['('.repeat(99), /too many/]
  ])('%s', (text, message) => {
    const { fault } = parseQuery(text);
    expect(fault && queryMessage(fault, IDENTITY)).toMatch(message);
    expect(findEntities(tree, text)).toEqual([]);
  });
});
