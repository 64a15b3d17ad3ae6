import { describe, expect, it } from 'vitest';
import { LevelBuilder } from './groupLevel';
import { decodePayload, METRIC_IDS } from '../model/decodePayload';
import { emptyPayload, PayloadBuilder } from '../testing/builder';
import {
  bertPayload,
  chainPayload,
  controlPayload,
  llamaPayload
} from '../testing/payloads';
import { Random } from '../testing/random';
import { randomPayload } from '../testing/randomPayload';
import { buildTree } from './groupTree';
import type { GraphPayload } from '../../schema';
import type { IGroupTree } from './treeTypes';

const treeOf = (payload: GraphPayload) => buildTree(decodePayload(payload));

function entityName(tree: IGroupTree, entity: number): string {
  const { model } = tree;
  return entity < model.nodeCount
    ? model.opType(entity)
    : tree.groupLabel[entity - model.nodeCount];
}

/** The tree as nested lists of names. */
function outline(tree: IGroupTree, group = -1): unknown[] {
  return Array.from(tree.children[group + 1], entity =>
    entity < tree.model.nodeCount
      ? entityName(tree, entity)
      : [
          entityName(tree, entity),
          ...outline(tree, entity - tree.model.nodeCount)
        ]
  );
}

describe('groups', () => {
  it('merge chains of single children and are replaced by single nodes', () => {
    const b = new PayloadBuilder();
    const x = b.input('x');
    const deep = ['outer:Outer', 'middle:Middle', 'inner:Inner'];
    const [y] = b.add('Conv', [x], { scope: deep });
    const [z] = b.add('Relu', [y], { scope: [...deep, 'act:ReLU'] });
    const [w] = b.add('Exp', [z], { scope: ['lonely', 'alone'] });
    b.add('Constant', [], { scope: ['only constants'] });
    b.output(w);
    const tree = treeOf(b.finish());
    expect(outline(tree)).toEqual([
      ['outer / middle / inner', 'Conv', 'Relu'],
      'Exp'
    ]);
    expect(tree.groupType).toEqual(['Inner']);
    expect(tree.path(1)).toEqual(['outer / middle / inner']);
    expect(tree.path(2)).toEqual([]);
  });

  it('are ordered by first use if all weights are computed at the start', () => {
    const b = new PayloadBuilder();
    const [last] = b.add('ConstantOfShape', [], { scope: ['tail'] });
    const [first] = b.add('ConstantOfShape', [], { scope: ['head'] });
    const [unused] = b.add('ConstantOfShape', []);
    const [noise] = b.add('RandomNormal', []);
    const x = b.input('x');
    const [y] = b.add('Conv', [x, first], { scope: ['head'] });
    const [z] = b.add('Conv', [y, last], { scope: ['tail'] });
    const [sum] = b.add('Add', [z, noise]);
    [sum, unused].forEach(tensor => b.output(tensor));
    expect(outline(treeOf(b.finish()))).toEqual([
      'ConstantOfShape',
      'RandomNormal',
      ['head', 'ConstantOfShape', 'Conv'],
      ['tail', 'ConstantOfShape', 'Conv'],
      'Add'
    ]);
  });

  it('are ordered by their first node', () => {
    const b = new PayloadBuilder();
    let x = b.input('x');
    for (const scope of ['late', 'first', 'late', 'first', 'late']) {
      [x] = b.add('Relu', [x], { scope: [scope] });
    }
    expect(outline(treeOf(b.finish()))).toEqual([
      ['late', 'Relu', 'Relu', 'Relu'],
      ['first', 'Relu', 'Relu']
    ]);
  });

  it('have consistent sizes, depths and ranges', () => {
    for (let seed = 0; seed < 40; seed++) {
      const tree = treeOf(randomPayload(new Random(seed), 80));
      const { model, groupParent, groupDepth } = tree;
      for (let group = 0; group < tree.groupCount; group++) {
        const parent = groupParent[group];
        expect(parent).toBeLessThan(group);
        expect(groupDepth[group]).toBe(parent < 0 ? 0 : groupDepth[parent] + 1);
        expect(tree.children[group + 1].length).toBeGreaterThan(1);
        const below = tree.nodeOrder.slice(
          tree.groupStart[group],
          tree.groupEnd[group]
        );
        expect(below.length).toBe(tree.groupSize[group]);
        for (const node of below) {
          let above = tree.nodeParent[node];
          while (above > group) {
            above = groupParent[above];
          }
          expect(above).toBe(group);
        }
      }
      const drawnCount = model.nodeCount - model.payload.nodes.constant.length;
      expect(tree.nodeOrder.length).toBe(drawnCount);
      expect(new Set(tree.nodeOrder).size).toBe(drawnCount);
    }
  });

  it('sum the metrics of their nodes and count unknown values', () => {
    const b = new PayloadBuilder();
    const x = b.input('x');
    b.add('Conv', [x], { scope: ['a', 'b'], params: 10, macs: 100 });
    b.add('Conv', [x], { scope: ['a', 'b'], params: 5, macs: null });
    b.add('Conv', [x], { scope: ['a'], params: 1, macs: 7 });
    const tree = treeOf(b.finish());
    expect(tree.groupLabel).toEqual(['a', 'b']);
    expect(Array.from(tree.groupMetrics.params)).toEqual([16, 15]);
    expect(Array.from(tree.groupMetrics.macs)).toEqual([107, 100]);
    expect(Array.from(tree.groupUnknown.macs)).toEqual([1, 1]);
    expect(Array.from(tree.groupUnknown.params)).toEqual([0, 0]);
    expect(Object.keys(tree.groupMetrics)).toEqual([...METRIC_IDS]);
  });
});

describe('subgraphs', () => {
  it('share a group with their control node, named after it', () => {
    const tree = treeOf(controlPayload());
    expect(outline(tree)).toEqual([
      ['front', 'Relu', 'Exp'],
      ['If', 'If', ['then_branch', 'Mul', 'Tanh'], ['else_branch', 'Neg']],
      ['repeat', 'Loop', ['body', 'Add', 'Mul', 'Identity']],
      'Sigmoid'
    ]);
  });

  it('contain their nodes even if the recorded scope is elsewhere', () => {
    const b = new PayloadBuilder();
    const x = b.input('x');
    b.add('If', [x], { scope: ['main'] });
    const body = b.body(b.lastNode, 'then_branch', ['body']);
    b.add('Relu', [x], { scope: ['somewhere'], graph: body });
    b.add('Exp', [x], { scope: ['body', 'inner'], graph: body });
    const tree = treeOf(b.finish());
    expect(outline(tree)).toEqual([
      ['main / If_0', 'If', ['then_branch', 'Relu', 'Exp']]
    ]);
  });

  it('without a scope get their own group', () => {
    const payload = controlPayload();
    payload.graphs.scope.fill(-1);
    payload.nodes.scope.fill(-1);
    const tree = treeOf(payload);
    expect(tree.groupLabel).toEqual([
      'If',
      'then_branch',
      'else_branch',
      'repeat',
      'body'
    ]);
  });

  it('accept cyclic parents', () => {
    const b = new PayloadBuilder();
    b.add('If', [b.input('x')], { scope: ['a'] });
    const node = b.lastNode;
    // The subgraph's scope is that of its own control node.
    const body = b.body(node, 'then_branch', ['a']);
    b.add('Relu', [0], { scope: ['a'], graph: body });
    b.add('Relu', [0], { scope: ['a'], graph: body });
    const tree = treeOf(b.finish());
    expect(tree.nodeOrder.length).toBe(3);
  });
});

describe('flat and deep models', () => {
  it('without scopes have no groups', () => {
    const tree = treeOf(chainPayload(5));
    expect(tree.groupCount).toBe(0);
    expect(tree.children[0].length).toBe(5);
  });

  it('may be empty', () => {
    const tree = treeOf(emptyPayload('nothing'));
    expect(tree.children).toEqual([new Int32Array(0)]);
  });

  it('may be nested 20,000 deep', () => {
    const b = new PayloadBuilder();
    const payload = b.finish();
    const depth = 20000;
    let x = b.input('x');
    for (let i = 0; i < depth; i++) {
      [x] = b.add('Relu', [x]);
      payload.nodes.scope[i] = i;
      payload.scopes.parent.push(i - 1);
      payload.scopes.label.push(`s${i}`);
      payload.scopes.type.push('');
      payload.scopes.origin.push('scope');
    }
    const tree = treeOf(payload);
    // The innermost scope holds a single node and is replaced by it.
    expect(tree.groupCount).toBe(depth - 1);
    expect(tree.groupSize[0]).toBe(depth);
    expect(tree.path(depth - 1).length).toBe(depth - 1);
  });
});

describe('levels', () => {
  /** Links as `source > target: tensor`, with items by name. */
  function links(tree: IGroupTree, group: number): string[] {
    const level = new LevelBuilder(tree).build(group);
    const name = (item: number) => {
      const { children, inputs, outputs, portsIn } = level;
      const lists: [string, Int32Array][] = [
        ['', children],
        ['input ', inputs],
        ['output ', outputs],
        ['in ', portsIn],
        ['out ', level.portsOut]
      ];
      let ancestor = item;
      for (const [prefix, list] of lists) {
        if (ancestor < list.length) {
          return prefix === ''
            ? entityName(tree, list[ancestor])
            : prefix + tree.model.tensorName(list[ancestor]);
        }
        ancestor -= list.length;
      }
      return '?';
    };
    return Array.from(
      level.linkSource,
      (s, i) => `${name(s)} > ${name(level.linkTarget[i])}`
    ).sort();
  }

  it('connect the children of the level', () => {
    const tree = treeOf(controlPayload());
    expect(links(tree, -1)).toEqual(
      [
        'input x > front',
        'front > If',
        'front > If',
        'front > repeat',
        'input condition > If',
        'input condition > repeat',
        'If > repeat',
        'repeat > Sigmoid',
        'Sigmoid > output Sigmoid_11_out0'
      ].sort()
    );
  });

  it('show inputs and outputs of a group, and results of subgraphs', () => {
    const tree = treeOf(controlPayload());
    const control = tree.groupLabel.indexOf('If');
    expect(links(tree, control)).toEqual(
      [
        'in condition > If',
        'in Exp_1_out0 > then_branch',
        'in Relu_0_out0 > then_branch',
        'in Exp_1_out0 > else_branch',
        'then_branch > If',
        'else_branch > If',
        'If > out If_2_out0'
      ].sort()
    );
  });

  it('give formal inputs a pill inside their subgraph', () => {
    const tree = treeOf(controlPayload());
    const body = tree.groupLabel.indexOf('body');
    expect(links(tree, body)).toEqual(
      [
        'input state > Add',
        'in Relu_0_out0 > Add',
        'Add > Mul',
        'input i > Mul',
        'input go_on > Identity',
        'Identity > out Identity_10_out0',
        'Mul > out Mul_9_out0'
      ].sort()
    );
  });

  /** Layers with a cache: `past.0.key` … and `present.0.key` …, each read and written by one layer. */
  function cached(layers: number, size: (layer: number) => number) {
    const b = new PayloadBuilder();
    let x = b.input('input_ids');
    for (let layer = 0; layer < layers; layer++) {
      const scope = ['layers', `layer.${layer}`];
      const past = b.input(`past.${layer}.key`, [1, size(layer)]);
      const shape = [1, size(layer) + 1];
      [x] = b.add('Concat', [x, past], { scope, shape });
      b.output(x);
      [x] = b.add('Relu', [x], { scope });
    }
    b.output(x);
    const payload = b.finish();
    // Series are recognised by name.
    payload.tensors.outputs.forEach((tensor, i) => {
      payload.tensors.name[tensor] = i < layers ? `present.${i}.key` : 'logits';
    });
    return treeOf(payload);
  }

  it('group inputs and outputs whose names differ in numbers into one pill', () => {
    const tree = cached(4, () => 16);
    // Represented by the first of them.
    expect(links(tree, -1)).toEqual(
      [
        'input input_ids > layers',
        'input past.0.key > layers',
        'layers > output logits',
        'layers > output present.0.key'
      ].sort()
    );
    const builder = new LevelBuilder(tree);
    expect([...builder.build(-1).linkWeight].sort()).toEqual([1, 1, 4, 4]);
    const inside = builder.build(tree.groupLabel.indexOf('layers'));
    expect(inside.portsIn.length).toBe(2);
    expect(inside.portsOut.length).toBe(2);
    expect([...inside.linkWeight].every(weight => weight === 1)).toBe(true);
    // Each layer has its own.
    const { model } = tree;
    const ends = [...inside.linkMember];
    expect(ends.map(tensor => model.tensorName(tensor))).toEqual(
      expect.arrayContaining(['past.0.key', 'past.3.key', 'present.2.key'])
    );
    expect(links(tree, tree.groupLabel.indexOf('layer.2'))).toEqual(
      [
        'in Relu_3_out0 > Concat',
        'in past.0.key > Concat',
        'Concat > Relu',
        'Concat > out present.0.key',
        'Relu > out Relu_5_out0'
      ].sort()
    );
  });

  it('show long series that cannot be grouped at their consumers', () => {
    const tree = cached(8, layer => 16 + layer);
    expect(links(tree, tree.groupLabel.indexOf('layer.3'))).toEqual(
      [
        'in Relu_5_out0 > Concat',
        'input past.3.key > Concat',
        'Concat > output present.3.key',
        'Concat > Relu',
        'Relu > out Relu_7_out0'
      ].sort()
    );
    expect(links(tree, -1)).toEqual(
      ['input input_ids > layers', 'layers > output logits'].sort()
    );
  });

  it('have the ports of a child equal to the links into it', () => {
    for (const payload of [bertPayload(3), llamaPayload(3, 13, 4)]) {
      const tree = treeOf(payload);
      const builder = new LevelBuilder(tree);
      for (let group = 0; group < tree.groupCount; group++) {
        const inner = builder.build(group);
        const outer = builder.build(tree.groupParent[group]);
        const item = outer.children.indexOf(tree.model.nodeCount + group);
        const into = outer.linkTensor.filter(
          (_, i) => outer.linkTarget[i] === item
        );
        const outOf = outer.linkTensor.filter(
          (_, i) => outer.linkSource[i] === item
        );
        expect(new Set(into)).toEqual(new Set(inner.portsIn));
        expect(new Set(outOf)).toEqual(new Set(inner.portsOut));
      }
    }
  });
});
