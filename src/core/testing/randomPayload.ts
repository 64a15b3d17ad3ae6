/**
 * Random nested models: shared tensors, several outputs, scopes that make groups depend on each other in
 * cycles.
 */

import type { GraphPayload } from '../../schema';
import { PayloadBuilder } from './builder';
import type { Random } from './random';

/**
 * A model of up to `maxNodes` nodes with scopes three deep. Each group reads its own, nearby and distant
 * tensors.
 */
export function randomPayload(random: Random, maxNodes: number): GraphPayload {
  const b = new PayloadBuilder('random');
  const tensors = [b.input('x'), b.input('y')];
  const nodes = 1 + random.int(maxNodes);
  for (let i = 0; i < nodes; i++) {
    const scope: string[] = [];
    const depth = random.int(4);
    for (let d = 0; d < depth; d++) {
      // Mostly in order, sometimes back in an earlier group, which makes cycles among groups.
      const parent = random.chance(0.1)
        ? random.int(6)
        : Math.floor((i * (d + 2)) / 8);
      scope.push(`part.${parent}:Class${d}`);
    }
    const inputs = Array.from({ length: random.int(3) + 1 }, () =>
      random.chance(0.8)
        ? tensors[Math.max(0, tensors.length - 1 - random.int(6))]
        : random.pick(tensors)
    );
    const op = random.pick(['Conv', 'Relu', 'Add', 'Mul', 'Split', 'Constant']);
    const outputs = op === 'Split' ? 3 : 1;
    const results = b.add(op, op === 'Constant' ? [] : inputs, {
      scope,
      outputs,
      params: op === 'Conv' ? 100 : 0,
      macs: random.chance(0.2) ? null : 10
    });
    tensors.push(...results);
  }
  b.output(tensors[tensors.length - 1]);
  b.output(random.pick(tensors));
  return b.finish();
}
