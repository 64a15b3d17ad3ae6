import { nullTranslator } from '@jupyterlab/translation';
import { expect, test } from 'vitest';
import { viewerTranslator } from './viewerTranslator';

const trans = viewerTranslator(nullTranslator.load('onnx_autodoc'));

test('fills a template with arguments', () => {
  expect(trans.__('%1 of %2', 3, 'MACs')).toBe('3 of MACs');
  expect(trans._n('%1 node', '%1 nodes', 1)).toBe('1 node');
  expect(trans._n('%1 node', '%1 nodes', 5)).toBe('5 nodes');
});

test('leaves a template without arguments unchanged', () => {
  expect(trans.__('%1 nodes')).toBe('%1 nodes');
  expect(trans.__('Model graph')).toBe('Model graph');
});
