import { describe, expect, test } from 'vitest';
import { buildTree, decodePayload, type IGroupTree } from '..';
import { MATCHERS } from './matchers';
import { numberedFamily } from './nameMatching';
import { PayloadBuilder } from '../testing/builder';
import { Random } from '../testing/random';
import { randomPayload } from '../testing/randomPayload';

interface INetwork {
  readonly layers: number;
  /** A layer to omit; later nodes are renumbered, as in a second export. */
  readonly without?: number;
  readonly scopes?: boolean;
  readonly weights?: boolean;
  /** Names a node; `count` is the index of the node among those of its operator. */
  readonly named?: (op: string, count: number, layer: number) => string;
}

const numbered = (op: string, count: number): string =>
  count === 0 ? `node_${op}` : `node_${op}_${count}`;

/**
 * Layers of Conv → Relu → Add with a residual; layer i keeps its scope and weight if others are omitted.
 */
function network(options: INetwork): IGroupTree {
  const b = new PayloadBuilder('net');
  const counts = new Map<string, number>();
  let x = b.input('x');
  const add = (op: string, inputs: number[], layer: number): number => {
    const count = counts.get(op) ?? 0;
    counts.set(op, count + 1);
    const scope =
      options.scopes === false ? [] : ['m:M', `layer.${layer}:Layer`];
    const name = (options.named ?? numbered)(op, count, layer);
    return b.add(op, inputs, { scope, name })[0];
  };
  for (let layer = 0; layer < options.layers; layer++) {
    if (layer === options.without) {
      continue;
    }
    const weight =
      options.weights === false
        ? []
        : [b.weight(`m.${layer}.weight`, [16, 16])];
    const conv = add('Conv', [x, ...weight], layer);
    const relu = add('Relu', [conv], layer);
    x = add('Add', [relu, x], layer);
  }
  b.output(x);
  const payload = b.finish();
  // Tensors are numbered after their producers, as by exporters.
  payload.tensors.name = payload.tensors.name.map((name, tensor) =>
    payload.tensors.producer[tensor] < 0
      ? name
      : `val_${payload.tensors.producer[tensor]}`
  );
  return buildTree(decodePayload(payload));
}

/** Counterparts of the first model's nodes. */
function counterparts(
  left: IGroupTree,
  right: IGroupTree,
  mode: keyof typeof MATCHERS = 'auto'
): number[] {
  const matching = MATCHERS[mode](left, right);
  return [...left.nodeOrder].map(node => matching.counterpart(0, node));
}

/** Counterparts if layer 2 of 5 is missing: all others match themselves. */
const WITHOUT_2 = [0, 1, 2, 3, 4, 5, -1, -1, -1, 6, 7, 8, 9, 10, 11];

describe('a removed layer', () => {
  const cases: Record<string, Partial<INetwork>> = {
    'modules and weights': {},
    'modules alone': { weights: false },
    'weights alone': { scopes: false }
  };
  test.each(Object.entries(cases))(
    'numbers in names are ignored if there are %s',
    (_, options) => {
      const left = network({ layers: 5, ...options });
      const right = network({ layers: 5, without: 2, ...options });
      expect(counterparts(left, right)).toEqual(WITHOUT_2);
    }
  );

  test('numbers in names are used when matching by name', () => {
    const left = network({ layers: 5 });
    const right = network({ layers: 5, without: 2 });
    const nodes = counterparts(left, right, 'name');
    expect(nodes.slice(6, 9)).toEqual([6, 7, 8]);
    expect(MATCHERS.name(left, right).rule(0, 6)).toBe('name');
  });

  test('paths in names are not numbers', () => {
    const options = {
      layers: 5,
      scopes: false,
      weights: false,
      named: (op: string, _: number, layer: number) => `/l.${layer}/${op}_1`
    };
    const left = network(options);
    const right = network({ ...options, without: 2 });
    expect(counterparts(left, right)).toEqual(WITHOUT_2);
    expect(MATCHERS.auto(left, right).rule(0, 9)).toBe('name');
  });

  test('only its own block has no counterpart', () => {
    const left = network({ layers: 5 });
    const right = network({ layers: 5, without: 2 });
    const matching = MATCHERS.auto(left, right);
    const other = (group: number): number =>
      matching.counterpart(0, left.model.nodeCount + group) -
      right.model.nodeCount;
    const labels = left.groupLabel.map((label, group) => {
      const counterpart = other(group);
      return [label, right.groupLabel[counterpart] ?? ''];
    });
    for (const [label, expected] of labels) {
      expect(expected).toBe(label.includes('layer.2') ? '' : label);
    }
    expect(labels.length).toBeGreaterThan(4);
  });

  test('counts add up and unmatched nodes are listed', () => {
    const left = network({ layers: 5 });
    const right = network({ layers: 5, without: 2 });
    const matching = MATCHERS.auto(left, right);
    expect(matching.counts).toEqual({
      matched: 12,
      guessed: 0,
      nodes: [15, 12],
      only: [3, 0]
    });
    expect(matching.only(0)).toEqual([6, 7, 8]);
    expect(matching.only(1)).toEqual([]);
  });
});

test('numbers from the same exporter are used', () => {
  // As after a simplifier: one node is missing, the others keep their names, and there is no other
  // evidence.
  const options = { layers: 5, scopes: false, weights: false };
  const left = network(options);
  const right = network({
    ...options,
    without: 4,
    named: numbered
  });
  expect(counterparts(left, right).slice(0, 12)).toEqual([
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
  ]);
});

test('edges decide without names, modules and weights', () => {
  const options = {
    layers: 4,
    scopes: false,
    weights: false,
    named: () => ''
  };
  const nameless = (tree: IGroupTree): IGroupTree => {
    const { payload } = tree.model;
    payload.tensors.name = payload.tensors.name.map((name, tensor) =>
      payload.tensors.producer[tensor] < 0 ? name : ''
    );
    return buildTree(decodePayload(payload));
  };
  const left = nameless(network(options));
  const right = nameless(network(options));
  const matching = MATCHERS.auto(left, right);
  expect(matching.counts.matched).toBe(12);
  expect(matching.counts.guessed).toBe(0);
  expect(matching.rule(0, 3)).toBe('wiring');
  expect(counterparts(left, right)).toEqual([...left.nodeOrder]);
});

test('a wrapper under another name is the same module', () => {
  const wrapped = (top: string): IGroupTree => {
    const b = new PayloadBuilder('net');
    let x = b.input('x');
    for (const suffix of ['a', 'b']) {
      [x] = b.add('Relu', [x], { scope: [top, suffix], name: '' });
      [x] = b.add('Conv', [x], { scope: [top, suffix], name: '' });
    }
    b.output(x);
    return buildTree(decodePayload(b.finish()));
  };
  const matching = MATCHERS.tag(wrapped('model'), wrapped('wrapper'));
  expect(matching.counts.matched).toBe(4);
  expect(matching.rule(1, 2)).toBe('module');
});

test('pairs are guesses if a module has fewer nodes of an operator', () => {
  const relus = (count: number): IGroupTree => {
    const b = new PayloadBuilder('net');
    let x = b.input('x');
    for (let i = 0; i < count; i++) {
      [x] = b.add('Relu', [x], { scope: ['m', 'act'], name: '' });
      [x] = b.add('Conv', [x], { scope: ['m', `c.${i}`], name: '' });
    }
    b.output(x);
    return buildTree(decodePayload(b.finish()));
  };
  const { counts } = MATCHERS.tag(relus(3), relus(2));
  expect(counts).toMatchObject({ matched: 4, guessed: 2, only: [2, 0] });
});

test('a repeat keeps its counterpart with a different number of instances', () => {
  const folded = (parts: number): IGroupTree => {
    const b = new PayloadBuilder('net');
    let x = b.input('x');
    for (let i = 0; i < parts; i++) {
      const scope = ['m:M', `Layer ×${parts}`, `layer.${i}:Layer`];
      [x] = b.add('Conv', [x], { scope, name: `/m/${i}/Conv` });
      [x] = b.add('Relu', [x], { scope, name: `/m/${i}/Relu` });
    }
    [x] = b.add('Conv', [x], { scope: ['m:M'], name: '/m/Conv' });
    b.output(x);
    const payload = b.finish();
    payload.scopes.origin = payload.scopes.label.map(label =>
      label.includes('×') ? 'repeat' : 'scope'
    );
    return buildTree(decodePayload(payload));
  };
  const [left, right] = [folded(4), folded(3)];
  const matching = MATCHERS.auto(left, right);
  const fold = left.groupLabel.findIndex(label => label.includes('×'));
  const other = matching.counterpart(0, left.model.nodeCount + fold);
  expect(right.groupLabel[other - right.model.nodeCount]).toContain('×3');
});

test('tensors match by output of the counterpart, inputs by name', () => {
  const left = network({ layers: 3 });
  const right = network({ layers: 3, without: 0 });
  const matching = MATCHERS.auto(left, right);
  const { model } = left;
  const output = model.outputs[model.outputOffsets[5]];
  const tensor = matching.tensor(0, output);
  expect(right.model.tensorProducer[tensor]).toBe(2);
  expect(right.model.tensorName(matching.tensor(0, 0))).toBe('x');
  const removed = model.outputs[model.outputOffsets[0]];
  expect(matching.tensor(0, removed)).toBe(-1);
});

test.each(['auto', 'name', 'tag'] as const)(
  'counterparts are mutual in random models: %s',
  mode => {
    for (let seed = 1; seed <= 60; seed++) {
      const random = new Random(seed);
      const left = buildTree(decodePayload(randomPayload(random, 60)));
      const right = buildTree(
        decodePayload(randomPayload(seed % 2 ? random : new Random(seed), 60))
      );
      const matching = MATCHERS[mode](left, right);
      const { matched, nodes, only } = matching.counts;
      expect(only).toEqual([nodes[0] - matched, nodes[1] - matched]);
      for (const [side, tree] of [left, right].entries()) {
        const own = side === 0 ? 0 : 1;
        const opposite = own === 0 ? 1 : 0;
        const count = tree.model.nodeCount + tree.groupCount;
        for (let entity = 0; entity < count; entity++) {
          const other = matching.counterpart(own, entity);
          // The counterpart of a counterpart is the entity itself.
          expect(
            other < 0 ? entity : matching.counterpart(opposite, other)
          ).toBe(entity);
        }
      }
      if (seed % 2 === 0 && mode === 'auto') {
        expect(only).toEqual([0, 0]);
      }
    }
  }
);

test('numberedFamily removes the number from a name', () => {
  expect(numberedFamily('Conv_17')).toBe('Conv');
  expect(numberedFamily('relu3')).toBe('relu');
  expect(numberedFamily('123')).toBe('');
  expect(numberedFamily('/layer.0/Conv_17')).toBeNull();
  expect(numberedFamily('m.0.weight')).toBeNull();
});
