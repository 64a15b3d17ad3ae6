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
