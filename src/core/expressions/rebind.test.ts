import { describe, expect, it } from 'vitest';
import type { GraphPayload } from '../../schema';
import { decodePayload } from '../model/decodePayload';
import { Rebinder, sizable, withBatch } from './rebind';
import fixture from '../testing/rebind.json';

const payload = fixture.payload as unknown as GraphPayload;

describe('a subgraph whose iterations depend on a dimension', () => {
  const within = fixture.loop.payload as unknown as GraphPayload;

  it.each(fixture.loop.cases.map(item => [item.sizes, item] as const))(
    'has the costs and iterations of a new analysis: %o',
    (sizes, expected) => {
      const rebound = Rebinder.of(within)!.rebind(sizes)!;
      for (const metric of ['macs', 'flops', 'runs'] as const) {
        expect(rebound.nodes[metric]).toEqual(expected.nodes[metric]);
      }
      const { metrics } = rebound;
      expect(metrics.total_macs).toBe(expected.metrics.total_macs);
      expect(metrics.by_op).toEqual(expected.metrics.by_op);
      const macs = decodePayload(rebound).metrics.macs;
      expect(macs.reduce((a, b) => a + b, 0)).toBe(metrics.total_macs);
    }
  );
});

describe('a batch size fixed in the file', () => {
  const analysed = fixture.fixed.payload as unknown as GraphPayload;
  const fixed = withBatch(analysed, analysed.batch!);

  it.each(fixture.fixed.cases.map(item => [item.batch, item] as const))(
    'gives the totals and shapes of an analysis of the rewritten model: %i',
    (batch, expected) => {
      const rebound = Rebinder.of(fixed)!.rebind({ batch })!;
      for (const name of [
        'total_macs',
        'total_flops',
        'read_bytes',
        'write_bytes',
        'peak_activation_bytes',
        'peak_activation_bytes_simple',
        'total_params'
      ] as const) {
        expect(rebound.metrics[name], name).toEqual(expected.metrics[name]);
      }
      const weight = fixed.tensors.name.indexOf('shape');
      rebound.tensors.shape.forEach((shape, tensor) => {
        if (tensor !== weight) {
          expect(rebound.shapes[shape]).toEqual(expected.shapes[tensor]);
        }
      });
      // The copies of the token count and the node that reads them.
      const { read_bytes: read } = decodePayload(rebound).metrics;
      expect(read.reduce((a, b) => a + b, 0)).toBe(rebound.metrics.read_bytes);
      expect(rebound.dims).toEqual([{ ...fixed.batch!.dim, value: batch }]);
    }
  );

  it('returns the original analysis for the batch size of the file', () => {
    expect(Rebinder.of(fixed)!.rebind({ batch: 1 })).toBe(fixed);
  });

  it('is not offered if a dimension is symbolic', () => {
    expect(payload.batch).toBeNull();
    expect(sizable(payload)).toBe(payload.dims);
    expect(sizable(fixed)).toEqual([fixed.batch!.dim]);
  });
});

describe('other dimensions', () => {
  it.each(fixture.cases.map(item => [item.sizes, item] as const))(
    'give the results of a new analysis: %o',
    (sizes, expected) => {
      const rebound = Rebinder.of(payload)!.rebind(sizes)!;
      for (const [metric, values] of Object.entries(expected.nodes)) {
        expect(rebound.nodes[metric as 'macs']).toEqual(values);
      }
      const { metrics } = rebound;
      for (const name of [
        'total_macs',
        'total_flops',
        'read_bytes',
        'write_bytes',
        'peak_activation_bytes',
        'peak_activation_bytes_simple',
        'total_params',
        'by_op'
      ] as const) {
        expect(metrics[name], name).toEqual(expected.metrics[name]);
      }
      expect(rebound.tensors.shape.map(shape => rebound.shapes[shape])).toEqual(
        expected.shapes
      );
      expect(rebound.timeline).toEqual(expected.timeline);
      expect(rebound.dims.map(dim => dim.value)).toEqual([
        sizes.batch,
        sizes.seq
      ]);
    }
  );

  it('stay assumed until a value is given', () => {
    const assumed = {
      ...payload,
      dims: payload.dims.map(dim => ({ ...dim, assumed: true }))
    };
    const marks = (sizes: Record<string, number>, values: object): boolean[] =>
      Rebinder.of(assumed)!
        .rebind(sizes, values as Record<string, number>)!
        .dims.map(dim => dim.assumed);
    expect(marks({ batch: 5, seq: 16 }, { batch: 5 })).toEqual([false, true]);
    // Given by the user, although equal to the assumed value.
    expect(marks({ batch: 1, seq: 16 }, { batch: 1 })).toEqual([false, true]);
  });

  it('do not change the original payload', () => {
    const before = JSON.stringify(payload);
    Rebinder.of(payload)!.rebind({ batch: 5, seq: 9 });
    expect(JSON.stringify(payload)).toBe(before);
  });

  it('omit memory curves that miss the peaks of the expressions', () => {
    const { timeline } = payload;
    const end = timeline!.node.length - 1;
    const last = timeline!.tensor_last.map(step => (step < 0 ? step : end));
    const wrong = { ...timeline!, tensor_last: last };
    const rebinder = Rebinder.of({ ...payload, timeline: wrong })!;
    const rebound = rebinder.rebind({ batch: 3, seq: 7 })!;
    expect(rebound.timeline).toBeNull();
    expect(rebound.diagnostics.at(-1)?.message).toContain('memory over time');
  });

  it('give values that were unknown only for lack of dimensions', () => {
    const free = structuredClone(payload);
    const knownNodes = free.coverage.nodes_known;
    for (const node of [2, 4]) {
      expect(free.nodes.macs[node]).not.toBeNull();
      free.nodes.macs[node] = null;
      free.nodes.reason[String(node)] = 'a size is free';
    }
    const trees = free.expressions!.shapes;
    const isFree = (shape: number): boolean => trees[shape].length > 0;
    free.shapes = free.shapes.map((shape, index) =>
      isFree(index) ? shape!.map(() => 'batch') : shape
    );
    const { shape } = free.tensors;
    free.coverage = {
      ...free.coverage,
      nodes_known: knownNodes - 2,
      nodes: (knownNodes - 2) / free.coverage.nodes_total,
      macs: 0.5,
      shapes: shape.filter(shape => !isFree(shape)).length / shape.length,
      reasons: { 'a size is free': 2 }
    };
    const sizes = { batch: 5, seq: 9 };
    const [actual, expected] = [free, payload].map(
      graph => Rebinder.of(graph)!.rebind(sizes)!.coverage
    );
    expect(expected).toEqual(payload.coverage);
    expect(actual).toEqual(expected);
  });

  it('require every dimension', () => {
    const rebinder = Rebinder.of(payload)!;
    expect(rebinder.rebind({ batch: 5 })).toBeNull();
    expect(rebinder.rebind({ batch: 5, seq: 0 })).toBeNull();
  });

  it('make every number unknown if they do not fit the model', () => {
    const { expressions } = payload;
    // As at the end of a table of positions: seq <= 8.
    const trees = [...expressions!.trees, ['+', ['*', -1, 'seq'], 9]];
    const least = { relation: 'positive', tree: trees.length - 1 };
    const bounded = {
      ...payload,
      expressions: { ...expressions!, trees, conditions: [least] }
    } as GraphPayload;
    const rebinder = Rebinder.of(bounded)!;
    const { total_macs: macs } = rebinder.rebind({ batch: 2, seq: 8 })!.metrics;
    expect(macs).toBeGreaterThan(0);
    const rebound = rebinder.rebind({ batch: 2, seq: 9 })!;
    const { metrics, nodes, runnable, coverage, dims } = rebound;
    for (const name of [
      'total_macs',
      'total_flops',
      'read_bytes',
      'write_bytes',
      'peak_activation_bytes',
      'peak_activation_bytes_simple'
    ] as const) {
      expect(metrics[name], name).toBeNull();
    }
    expect(metrics.total_params).toBe(payload.metrics.total_params);
    expect(metrics.by_op.every(row => row.macs === null)).toBe(true);
    expect(nodes.macs.every(value => value === null)).toBe(true);
    expect(coverage.nodes).toBe(0);
    expect(runnable.reason).toMatch(/do not fit/);
    expect(dims.map(dim => dim.value)).toEqual([2, 9]);
    expect(rebound.timeline).toBeNull();
    const values = decodePayload(rebound).metrics.macs;
    expect([...values].every(Number.isNaN)).toBe(true);
    expect(rebinder.rebind({ batch: 2, seq: 7 })!.metrics.total_macs).not.toBe(
      macs
    );
  });

  it('are rejected if a known number has no expression', () => {
    const { expressions } = payload;
    const macs = expressions!.macs.map((tree, node) =>
      node === 4 ? -1 : tree
    );
    expect(
      Rebinder.of({ ...payload, expressions: { ...expressions!, macs } })
    ).toBeNull();
    expect(Rebinder.of({ ...payload, expressions: null })).toBeNull();
  });
});
