import { describe, expect, it } from 'vitest';
import type { GraphPayload } from '../../schema';
import { decodePayload } from './decodePayload';
import { PART_STATE, partStateOf, Tally } from './metricSums';
import { PayloadBuilder } from '../testing/builder';
import { buildTree } from '../tree/groupTree';

/** Two boxes with two products of 10 MACs each, inside a third: an If and its branches. */
function branches(): GraphPayload {
  const b = new PayloadBuilder('sums');
  let tensor = b.input('x');
  for (const branch of ['then', 'else']) {
    for (let index = 0; index < 2; index++) {
      const scope = ['choice', branch];
      [tensor] = b.add('MatMul', [tensor], { macs: 10, params: 3, scope });
    }
  }
  b.output(tensor);
  return b.finish();
}

/** The sum of MACs and the number of unknown nodes of each box. */
function boxes(payload: GraphPayload): Record<string, [number, number]> {
  const tree = buildTree(decodePayload(payload));
  return Object.fromEntries(
    tree.groupLabel.map((label, group) => [
      label,
      [tree.groupMetrics.macs[group], tree.groupUnknown.macs[group]]
    ])
  );
}

describe('a branch excluded from the totals', () => {
  it('does not make the enclosing sum incomplete, and has no value itself', () => {
    const payload = branches();
    payload.nodes.uncounted = [2, 3];
    expect(boxes(payload)).toEqual({
      choice: [20, 0],
      then: [20, 0],
      else: [0, 2]
    });
    const model = decodePayload(payload);
    expect(partStateOf(model, 'macs', 2)).toBe(PART_STATE.excluded);
    expect(partStateOf(model, 'latency', 2)).toBe(PART_STATE.excluded);
    expect(partStateOf(model, 'params', 2)).toBe(PART_STATE.known);
  });

  it('makes the enclosing sum incomplete if its cost is unknown', () => {
    const payload = branches();
    payload.nodes.uncounted = [2, 3];
    payload.nodes.macs[3] = null;
    expect(boxes(payload)).toEqual({
      choice: [20, 1],
      then: [20, 0],
      else: [0, 2]
    });
  });
});

describe('a loop with an unknown number of iterations', () => {
  it('makes a sum a lower bound, except for nodes without cost', () => {
    const payload = branches();
    payload.nodes.runs_unknown = [2, 3];
    payload.nodes.macs[3] = 0;
    expect(boxes(payload)).toEqual({
      choice: [30, 1],
      then: [20, 0],
      else: [10, 1]
    });
    const model = decodePayload(payload);
    expect(partStateOf(model, 'macs', 2)).toBe(PART_STATE.lowerBound);
    expect(partStateOf(model, 'macs', 3)).toBe(PART_STATE.known);
    expect(partStateOf(model, 'activation_bytes', 2)).toBe(PART_STATE.known);
  });
});

describe('a weight with an impossible shape', () => {
  it('makes the parameters of enclosing blocks a lower bound', () => {
    const payload = branches();
    payload.nodes.params[3] = null;
    const { groupLabel, groupMetrics, groupUnknown } = buildTree(
      decodePayload(payload)
    );
    const of = (label: string) => groupLabel.indexOf(label);
    expect(groupMetrics.params[of('choice')]).toBe(9);
    expect(groupUnknown.params[of('choice')]).toBe(1);
    expect(groupUnknown.params[of('then')]).toBe(0);
  });
});

describe('Tally', () => {
  it('gives the sums of a block with the same nodes', () => {
    for (const [uncounted, endless, unknown] of [
      [[], [], []],
      [[2, 3], [], []],
      [[2, 3], [0], [1]],
      [[0, 1, 2, 3], [], []],
      [[0], [1], [2, 3]]
    ]) {
      const payload = branches();
      payload.nodes.uncounted = uncounted;
      payload.nodes.runs_unknown = endless;
      unknown.forEach(node => (payload.nodes.macs[node] = null));
      const tally = new Tally(decodePayload(payload), 'macs');
      [0, 1, 2, 3].forEach(node => tally.add(node));
      expect([tally.known, tally.unknown]).toEqual(boxes(payload).choice);
    }
  });
});
