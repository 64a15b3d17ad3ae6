import { describe, expect, test } from 'vitest';
import { decodePayload } from '../../core';
import { PayloadBuilder } from '../../core/testing/builder';
import { testPayload } from '../testing/payload';
import {
  byOperator,
  cumulative,
  executionOrder,
  paramBins,
  shapeEvolution
} from './chartData';

const model = decodePayload(testPayload());
const order = executionOrder(model);

test('the profile rises to the total and counts unknown values', () => {
  const { values, total, unknown } = cumulative(model, order, 'macs');
  expect([...values]).toEqual([1 / 3, 1 / 3, 1, 1, 1]);
  expect([total, unknown]).toEqual([3000, 1]);
  const nothing = decodePayload(testPayload({ blocks: 1 }));
  nothing.metrics.macs.fill(NaN);
  expect(cumulative(nothing, order.slice(0, 3), 'macs').values).toHaveLength(0);
});

test('operators are counted and summed', () => {
  expect(
    byOperator(model, order, 'count').map(p => [p.label, p.value])
  ).toEqual([
    ['Conv', 2],
    ['Relu', 2],
    ['Mystery', 1]
  ]);
  const [conv, mystery] = byOperator(model, order, 'macs');
  expect(conv).toEqual({
    label: 'Conv',
    value: 3000,
    unknown: 0,
    nodes: [0, 2]
  });
  expect(mystery).toMatchObject({ label: 'Mystery', value: 0, unknown: 1 });
});

describe('parameters by size', () => {
  test('put a thousand in the bin of thousands', () => {
    const b = new PayloadBuilder();
    let x = b.input('x');
    for (const params of [1, 9, 0, 1000, 999_999]) {
      [x] = b.add('Gemm', [x], { params });
    }
    const large = decodePayload(b.finish());
    const bins = paramBins(large, executionOrder(large));
    expect(bins.map(bin => [bin.from, bin.params, bin.nodes])).toEqual([
      [1, 10, [0, 1]],
      [10, 0, []],
      [100, 0, []],
      [1000, 1000, [3]],
      [10_000, 0, []],
      [100_000, 999_999, [4]]
    ]);
  });

  test('have no bins without parameters', () => {
    expect(paramBins(model, Int32Array.of(1, 3))).toEqual([]);
  });
});

test('shapes are included if known and not from shape computations', () => {
  const b = new PayloadBuilder();
  const [y] = b.add('Conv', [b.input('x')], { shape: [1, 64, 8, 8] });
  const [z] = b.add('Reshape', [y], { shape: [1, 'n', 64] });
  b.add('Gemm', [z], { shape: [1, 10] });
  const model = decodePayload(b.finish());
  const shapes = shapeEvolution(model, executionOrder(model));
  expect([...shapes.nodes]).toEqual([0, 2]);
  expect([...shapes.elements]).toEqual([4096, 10]);
  expect(shapes.axes.map(axis => [...axis])).toEqual([
    [64, 10],
    [8, NaN],
    [8, NaN]
  ]);
});
