/** Random graphs as layout input. */

import { PIN } from '../layout/layered/layoutTypes';
import type { ILayoutInput } from '../layout/layered/layoutTypes';
import { simpleInput } from './layoutInput';
import type { Random } from './random';

/** A random graph: chain-like with skips, or loose; optionally with cycles and self-loops. */
export function randomGraph(random: Random, cyclic: boolean): ILayoutInput {
  const count = random.int(40);
  const source: number[] = [];
  const target: number[] = [];
  const reach = 1 + random.int(12);
  for (let v = 1; v < count; v++) {
    const wires = random.int(4);
    for (let i = 0; i < wires; i++) {
      source.push(Math.max(0, v - 1 - random.int(reach)));
      target.push(v);
    }
    if (cyclic && random.chance(0.2)) {
      source.push(v);
      target.push(random.int(v + 1));
    }
  }
  const size = (low: number, high: number) =>
    Array.from({ length: count }, () => low + random.int(high - low));
  return simpleInput(size(20, 160), size(12, 90), source, target);
}

/** The same with ports at random heights, several trunks and pinned ends. */
export function withPorts(random: Random, input: ILayoutInput): ILayoutInput {
  const incoming = new Set(input.target);
  const outgoing = new Set(input.source);
  const pin = input.pin.map((_, v) =>
    !incoming.has(v) && random.chance(0.5)
      ? PIN.first
      : !outgoing.has(v) && random.chance(0.5)
        ? PIN.last
        : PIN.none
  );
  const offset = (items: Int32Array) =>
    Float64Array.from(
      items,
      v => (random.int(5) / 4 - 0.5) * (input.height[v] - 6)
    );
  return {
    ...input,
    pin: Int8Array.from(pin),
    sourceOffset: offset(input.source),
    targetOffset: offset(input.target),
    trunk: Int32Array.from(input.source, () => random.int(3))
  };
}
