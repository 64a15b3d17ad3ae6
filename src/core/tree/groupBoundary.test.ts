import { expect, test } from 'vitest';
import { boundary, buildTree, decodePayload } from '..';
import type { IGroupTree } from '..';
import { PayloadBuilder } from '../testing/builder';
import { bertPayload, controlPayload } from '../testing/payloads';
import { Random } from '../testing/random';
import { randomPayload } from '../testing/randomPayload';

const names = (tree: IGroupTree, tensors: readonly number[]): string[] =>
  tensors.map(tensor => tree.model.tensorName(tensor));

test('lists tensors that a block reads and produces, without weights and internal tensors', () => {
  const b = new PayloadBuilder('net');
  const x = b.input('x');
  const weight = b.weight('w', [16, 16]);
  const [before] = b.add('Relu', [x], { name: 'before' });
  const [conv] = b.add('Conv', [before, weight], { scope: ['m'], name: 'c' });
  const [sum] = b.add('Add', [conv, x], { scope: ['m'], name: 's' });
  const [output] = b.add('Relu', [sum], { scope: ['m'], name: 'o' });
  const [after] = b.add('Relu', [sum], { name: 'after' });
  b.output(output);
  b.output(after);
  const tree = buildTree(decodePayload(b.finish()));
  const tensors = boundary(tree, 0);
  expect(names(tree, tensors.inputs)).toEqual(names(tree, [before, x]));
  expect(names(tree, tensors.outputs)).toEqual(names(tree, [sum, output]));
});

test('inputs are produced outside and outputs inside, each listed once, in random models', () => {
  const random = new Random(7);
  const payloads = [
    bertPayload(),
    controlPayload(),
    ...Array.from({ length: 20 }, () => randomPayload(random, 40))
  ];
  for (const payload of payloads) {
    const tree = buildTree(decodePayload(payload));
    const { model, nodePosition, groupStart, groupEnd } = tree;
    for (let group = 0; group < tree.groupCount; group++) {
      const inside = (tensor: number): boolean => {
        const position = nodePosition[model.tensorProducer[tensor]] ?? -1;
        return position >= groupStart[group] && position < groupEnd[group];
      };
      const { inputs, outputs } = boundary(tree, group);
      expect(inputs.some(inside)).toBe(false);
      expect(outputs.every(inside)).toBe(true);
      expect(new Set([...inputs, ...outputs]).size).toBe(
        inputs.length + outputs.length
      );
    }
  }
});
