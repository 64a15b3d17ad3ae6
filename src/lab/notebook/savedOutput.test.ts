import { expect, test } from 'vitest';
import { readSaved } from './savedOutput';

const model = { bundle: 'AAAA', overlay: 'macs', selection: [1], view: {} };

test('reads the format that the widget writes', () => {
  expect(readSaved({ models: [model], height: 450 })).toEqual({
    models: [model],
    separate: false,
    height: 450
  });
  expect(
    readSaved({ models: [model, model], height: 450 }).models
  ).toHaveLength(2);
  // A box may have many, each separate.
  const three = { models: [model, model, model], height: 300 };
  expect(readSaved({ ...three, apart: true })).toEqual({
    ...three,
    separate: true
  });
});

test.each([
  [null],
  ['text'],
  [{}],
  [{ models: 'AAAA' }],
  [{ models: [null] }],
  [{ models: [{ bundle: 7 }] }],
  // A pair with one missing half, and more than a pair.
  [{ models: [model, {}] }],
  [{ models: [model, model, model] }]
])('reads no model from %j', value => {
  expect(readSaved(value).models).toEqual([]);
});

test.each([
  [1e9, 5000],
  [1, 120],
  [-3, 120],
  ['tall', 600],
  [undefined, 600]
])('reads a height of %s as %i', (stored, height) => {
  expect(readSaved({ models: [], height: stored }).height).toBe(height);
});

test.each([
  [1, 1_000_000, 1],
  [1, 1_000_001, 0],
  [2, 500_000, 2],
  [2, 500_001, 0],
  [50, 20_001, 0]
])('%i models of %i characters: %i are decoded', (count, size, decoded) => {
  const bundle = 'A'.repeat(size);
  const models = Array.from({ length: count }, () => ({ bundle }));
  expect(readSaved({ models, apart: true }).models.length).toBe(decoded);
});
