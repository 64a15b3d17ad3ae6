import { expect, test } from 'vitest';
import type { IGraphModel } from '../../../core/types';
import type { TaskKernel } from '../../../schema';
import { estimateOf, medianRatio, withEstimates } from './estimatedTimes';

const model = (latency: number[], device = true): IGraphModel =>
  ({
    nodeCount: latency.length,
    latency: device ? {} : null,
    metrics: { latency: Float64Array.from(latency) }
  }) as unknown as IGraphModel;

const kernel = (ms: number, ...nodes: number[]): TaskKernel => ({
  node: nodes[0],
  nodes,
  name: '',
  op: '',
  ms,
  conversion_ms: 0
});

test('the estimate of a kernel covers all of its nodes', () => {
  const partial = model([1e-3, 0, NaN, 2e-3]);
  expect(estimateOf(partial, kernel(1, 0, 1, 3))).toBeCloseTo(3e-3);
  expect(estimateOf(partial, kernel(1, 0, 2))).toBeCloseTo(1e-3);
  // Fused, unknown, of another model, no device.
  for (const nodes of [[1], [2], [9]]) {
    expect(estimateOf(partial, kernel(1, ...nodes))).toBeNaN();
  }
  expect(estimateOf(model([1e-3], false), kernel(1, 0))).toBeNaN();
});

test('only kernels with both times are compared', () => {
  const compared = withEstimates(model([1e-3, NaN, 4e-3]), [
    ...[kernel(2, 0), kernel(1, 1), kernel(0, 2), kernel(1, 2)]
  ]);
  expect(
    compared.map(({ measured, estimated }) => [measured, estimated])
  ).toEqual([
    [2e-3, 1e-3],
    [1e-3, 4e-3]
  ]);
  expect(medianRatio(compared)).toBeCloseTo(2.25);
  expect(medianRatio(compared.slice(1))).toBeCloseTo(4);
  expect(medianRatio([])).toBeNaN();
});
