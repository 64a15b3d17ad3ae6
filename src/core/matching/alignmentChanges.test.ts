import { expect, test } from 'vitest';
import { buildTree, decodePayload, type IGroupTree } from '..';
import { matchGiven, type IAlignmentColumns } from './matchers';
import { PayloadBuilder } from '../testing/builder';

/** Conv → Relu → Add, in floats or with quantization around the Conv; the last nodes form a block. */
function chain(quantized: boolean): IGroupTree {
  const b = new PayloadBuilder('net');
  const scope = ['m:M'];
  let x = b.input('x');
  const addNode = (op: string, nodeScope = scope): void => {
    x = b.add(op, [x], { scope: nodeScope })[0];
  };
  if (quantized) {
    addNode('QuantizeLinear');
    addNode('DequantizeLinear');
  }
  addNode('Conv');
  addNode('Relu');
  addNode('Abs', ['m:M', 'tail:T']);
  addNode(quantized ? 'Pad' : 'Neg', ['m:M', 'tail:T']);
  b.output(x);
  return buildTree(decodePayload(b.finish()));
}

/** Conv with its quantization, then Relu; the last two nodes of each model have no counterpart. */
const GIVEN: IAlignmentColumns = {
  left: [0, 1, -1, -1],
  right: [0, 0, 0, 1, -1, -1],
  kinds: ['operator', 'attributes', 'precision', 'fused'],
  changes: [0b100, 0],
  main_left: [0, 1],
  main_right: [2, 3]
};

const matched = (columns: IAlignmentColumns = GIVEN) =>
  matchGiven(chain(false), chain(true), columns);

test('every node of a pair has a counterpart; the main node comes first', () => {
  const matching = matched()!;
  expect([0, 1, 2].map(node => matching.counterpart(0, node))).toEqual([
    2, 3, -1
  ]);
  expect([0, 1, 2, 3, 4].map(node => matching.counterpart(1, node))).toEqual([
    0, 0, 0, 1, -1
  ]);
  expect(matching.rule(0, 0)).toBe('structure');
  expect([matching.only(0), matching.only(1)]).toEqual([
    [2, 3],
    [4, 5]
  ]);
  expect(matching.counts.only).toEqual([2, 2]);
});

test('blocks combine the states of their nodes', () => {
  const { changes } = matched()!;
  const states = (side: 0 | 1, count: number): (string | undefined)[] =>
    Array.from({ length: count }, (_, node) => changes?.state(side, node));
  expect(states(0, 3)).toEqual(['precision', 'same', 'only']);
  expect(states(1, 5)).toEqual([
    'precision',
    'precision',
    'precision',
    'same',
    'only'
  ]);
  const { nodeParent, groupParent, model } = chain(false);
  const tail = nodeParent[2];
  expect(changes?.state(0, model.nodeCount + tail)).toBe('only');
  const around = model.nodeCount + groupParent[tail];
  expect(groupParent[tail]).toBeGreaterThanOrEqual(0);
  expect(changes?.state(0, around)).toBe('changed');
  expect(changes?.kinds(0, around)).toEqual(['precision']);
});

test('differences are listed once per pair, in the order of the graph', () => {
  const { changes } = matched()!;
  expect(changes?.differing).toEqual([
    [0, 2, 3],
    [2, 4, 5]
  ]);
  expect([...changes!.nodes(1)]).toEqual([1, 1, 1, 0, 1, 1]);
});

test.each([
  ['operator', 0b1, 'changed'],
  ['operator and precision', 0b101, 'changed'],
  ['fused and precision', 0b1100, 'fused'],
  ['nothing', 0, 'same']
])('%s gives one state', (_, bits, state) => {
  const matching = matched({ ...GIVEN, changes: [bits, 0] });
  expect(matching?.changes?.state(0, 0)).toBe(state);
});

test('columns of other models are rejected', () => {
  expect(matched({ ...GIVEN, left: [0, 1] })).toBeNull();
  expect(matched({ ...GIVEN, right: [] })).toBeNull();
});
