import { describe, expect, test } from 'vitest';
import type { GraphPayload } from '../../schema';
import { decodePayload } from './decodePayload';
import { executionsOf } from './executionCounts';
import { PayloadBuilder } from '../testing/builder';
import { upgradePayload } from './upgradePayload';

/** Four products of 10 MACs each. */
function four(): GraphPayload {
  const b = new PayloadBuilder('runs');
  let tensor = b.input('x');
  for (let node = 0; node < 4; node++) {
    [tensor] = b.add('MatMul', [tensor], { macs: 10 });
  }
  b.output(tensor);
  return b.finish();
}

describe('costs of one inference', () => {
  test('include all runs; 0 for a loop that never runs, NaN for an excluded branch', () => {
    const payload = four();
    payload.nodes.runs = { '1': 5, '2': 0, '3': 0 };
    payload.nodes.uncounted = [3];
    const { metrics } = decodePayload(payload);
    expect([...metrics.macs]).toEqual([10, 50, 0, NaN]);
    expect([...metrics.flops]).toEqual([20, 100, 0, NaN]);
    expect([...metrics.read_bytes]).toEqual([64, 320, 0, NaN]);
    expect([...metrics.activation_bytes]).toEqual([64, 64, 64, 64]);
    expect([0, 1, 2].map(node => executionsOf(payload.nodes, node))).toEqual([
      1, 5, 0
    ]);
  });
});

describe('payloads of version 1.0', () => {
  /** The format of version 1.0: costs of one inference, and `repeat`. */
  function former(repeat: Record<string, number | null>): GraphPayload {
    const { nodes, ...sections } = four();
    const { runs: _, runs_unknown: __, uncounted: ___, ...columns } = nodes;
    columns.macs = [10, 50, 0, null];
    const expressions = { macs: [0, 0, 0, 0] };
    return {
      ...sections,
      nodes: { ...columns, repeat },
      expressions
    } as unknown as GraphPayload;
  }

  test('are upgraded to the same costs', () => {
    const upgraded = upgradePayload(former({ '1': 5, '2': 0, '3': null }));
    expect(upgraded.nodes.macs).toEqual([10, 10, 0, null]);
    expect(upgraded.nodes.runs).toEqual({ '1': 5, '2': 0 });
    expect(upgraded.nodes.runs_unknown).toEqual([3]);
    expect([...decodePayload(upgraded).metrics.macs]).toEqual([10, 50, 0, NaN]);
    expect(upgraded.expressions).toBeNull();
  });

  test('keep their expressions if no node runs more than once', () => {
    expect(upgradePayload(former({})).expressions).toEqual({
      macs: [0, 0, 0, 0],
      runs: {}
    });
  });

  test('of the current version are returned unchanged', () => {
    const payload = four();
    expect(upgradePayload(payload)).toBe(payload);
  });
});
