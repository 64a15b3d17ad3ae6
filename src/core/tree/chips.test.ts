import { expect, it } from 'vitest';
import type { GraphPayload } from '../../schema';
import { decodePayload } from '../model/decodePayload';
import { PayloadBuilder } from '../testing/builder';
import { Random } from '../testing/random';
import { randomPayload } from '../testing/randomPayload';
import { sceneFaults } from '../testing/sceneFaults';
import { plainSizer } from '../testing/sizer';
import { chipText } from './chips';
import { buildTree } from './groupTree';
import { createGraphView } from '../view/graphView';

const MASK = ['Mask::plumbing'];
const SIZES = ['Sizes::plumbing'];
const LAYER = ['layer:Layer'];

/** A layer that reads a mask, which reads sizes; each is made of two nodes. */
function masked(alsoRead = false): GraphPayload {
  const b = new PayloadBuilder();
  const x = b.input('x');
  const m = b.input('m');
  const [s] = b.add('Shape', [x], { name: 's0', scope: SIZES });
  const [t] = b.add('Gather', [s], { name: 's1', scope: SIZES });
  const [u] = b.add('Cast', [m], { name: 'm0', scope: MASK });
  const [v] = b.add('Expand', [u, t], { name: 'm1', scope: MASK });
  const [y] = b.add('MatMul', [x], { name: 'a', scope: LAYER, macs: 8 });
  const [z] = b.add('Add', [y, v], { name: 'b', scope: LAYER });
  const [end] = b.add('Relu', [z], { name: 'end' });
  if (alsoRead) {
    b.output(b.add('Mul', [end, t], { name: 'other' })[0]);
  } else {
    b.output(end);
  }
  return b.finish();
}

function viewOf(payload: GraphPayload) {
  const model = decodePayload(payload);
  const tree = buildTree(model);
  const view = createGraphView(tree, plainSizer(model, tree));
  const group = (label: string) => tree.groupLabel.indexOf(label);
  const entity = (label: string) => model.nodeCount + group(label);
  return { model, tree, view, group, entity };
}

it('preparation with one consumer is a chip on its box, with its own preparation', async () => {
  const { model, tree, view, group, entity } = viewOf(masked());
  expect([...tree.groupChips]).toEqual([
    [entity('layer'), [group('Sizes'), group('Mask')]]
  ]);
  const scene = await view.collapseAll();
  const layer = scene.boxOf(entity('layer'));
  expect(scene.boxEntity[layer]).toBe(entity('layer'));
  expect(scene.boxOf(entity('Mask'))).toBe(layer);
  expect(scene.boxOf(entity('Sizes'))).toBe(layer);
  const m1 = model.payload.nodes.name.indexOf('m1');
  expect(scene.boxOf(m1)).toBe(layer);
  // Two inputs, the layer, a Relu and an output: the layer also reads what the mask reads.
  expect(scene.boxCount).toBe(5);
  const into = [...scene.edgeTarget].filter(box => box === layer);
  expect(into).toHaveLength(2);
  expect(sceneFaults(scene)).toEqual([]);
});

it('a chip expands to a box with edges and collapses to a chip', async () => {
  const { view, group, entity } = viewOf(masked());
  const before = await view.collapseAll();
  const open = await view.expand(group('Mask'));
  const mask = open.boxOf(entity('Mask'));
  expect(open.boxEntity[mask]).toBe(entity('Mask'));
  // Tensors read only by the open box have wires too.
  const sizes = open.boxOf(entity('Sizes'));
  expect(open.boxEntity[sizes]).toBe(entity('Sizes'));
  expect(sceneFaults(open)).toEqual([]);
  const after = await view.collapse(group('Mask'));
  expect({ ...after, version: 0, boxOf: 0 }).toEqual({
    ...before,
    version: 0,
    boxOf: 0
  });
});

it('revealing a node in a chip expands it; the chip itself is visible', async () => {
  const { model, view, group, entity } = viewOf(masked());
  await view.collapseAll();
  await view.reveal(entity('Mask'));
  expect(view.isOpen(group('Mask'))).toBe(false);
  await view.reveal(model.payload.nodes.name.indexOf('m1'));
  expect(view.isOpen(group('Mask'))).toBe(true);
});

it('an expanded block shows its preparation as boxes', async () => {
  const { view, group, entity } = viewOf(masked());
  await view.collapseAll();
  const scene = await view.expand(group('layer'));
  const mask = scene.boxOf(entity('Mask'));
  expect(scene.boxEntity[mask]).toBe(entity('Mask'));
  // The mask is drawn as a card, and the sizes belong to it alone.
  expect(sceneFaults(scene)).toEqual([]);
});

it('preparation with several consumers is a box', async () => {
  const { tree, view, entity, group } = viewOf(masked(true));
  expect([...tree.groupChips.values()]).toEqual([[group('Mask')]]);
  const scene = await view.collapseAll();
  const sizes = scene.boxOf(entity('Sizes'));
  expect(scene.boxEntity[sizes]).toBe(entity('Sizes'));
  expect(sceneFaults(scene)).toEqual([]);
});

it('preparation is a separate box if its consumer is hidden', async () => {
  const { view, entity } = viewOf(masked());
  await view.collapseAll();
  const scene = await view.setHidden([entity('layer')]);
  const mask = scene.boxOf(entity('Mask'));
  expect(scene.boxEntity[mask]).toBe(entity('Mask'));
  const without = await view.setHidden([entity('Mask')]);
  expect(without.boxOf(entity('Mask'))).not.toBe(
    without.boxOf(entity('layer'))
  );
});

it('computed weights have no edges but count as having one consumer', async () => {
  const b = new PayloadBuilder();
  const x = b.input('x');
  const scope = ['Weights::plumbing'];
  const w = b.weight('w', [16, 16]);
  const [t] = b.add('Transpose', [w], { scope });
  const [u] = b.add('Mul', [t, w], { scope });
  b.output(b.add('MatMul', [x, u], { name: 'mm', macs: 8 })[0]);
  const { view, entity, model } = viewOf(b.finish());
  const scene = await view.collapseAll();
  const mm = model.payload.nodes.name.indexOf('mm');
  expect(scene.boxOf(entity('Weights'))).toBe(scene.boxOf(mm));
});

it('a single node of weights can be a chip, also in a module of its own', async () => {
  const b = new PayloadBuilder();
  const x = b.input('x');
  const w = b.weight('w', [16]);
  const [n] = b.add('LayerNormalization', [w], {
    scope: ['norm:LayerNorm', 'Weights::plumbing']
  });
  const [y] = b.add('MatMul', [x, n], { scope: LAYER, macs: 8 });
  b.output(b.add('Add', [y, n], { scope: LAYER })[0]);
  const { tree, view, entity, group } = viewOf(b.finish());
  expect(tree.groupLabel).toContain('norm / Weights');
  const scene = await view.collapseAll();
  const layer = scene.boxOf(entity('layer'));
  expect(scene.boxOf(entity('norm / Weights'))).toBe(layer);
  expect(chipText(tree, group('norm / Weights'))).toBe('weights · 1');
});

it('computed weights have edges to a node that is drawn as the box of what it needs', async () => {
  const b = new PayloadBuilder();
  const x = b.input('x');
  const w = b.weight('w', [16, 16]);
  const scope = ['Add + constants:Add:plumbing'];
  const [table] = b.add('Gather', [w], { name: 'table' });
  const [y] = b.add('Relu', [x]);
  const [one] = b.add('Expand', [w], { scope });
  const [z] = b.add('Mul', [y, one], { scope });
  b.output(b.add('Add', [z, table], { scope, name: 'add' })[0]);
  const { view, entity, model } = viewOf(b.finish());
  const scene = await view.collapseAll();
  const from = scene.boxOf(model.payload.nodes.name.indexOf('table'));
  const to = scene.boxOf(entity('Add + constants'));
  const edges = [...scene.edgeSource].map((source, e) => [
    source,
    scene.edgeTarget[e]
  ]);
  expect(edges).toContainEqual([from, to]);
  expect(sceneFaults(scene)).toEqual([]);
});

it('a tensor shared by several boxes is a chip on the first collapsed one if it has no edges', async () => {
  const b = new PayloadBuilder();
  const x = b.input('x');
  const w = b.weight('w', [16, 16]);
  const scope = ['position'];
  const [t] = b.add('Transpose', [w], { scope });
  const [u] = b.add('Mul', [t, w], { scope });
  const layer = (input: number, name: string) => {
    const [y] = b.add('MatMul', [input, u], { scope: [name], macs: 8 });
    return b.add('Relu', [y], { scope: [name] })[0];
  };
  b.output(layer(layer(x, 'one'), 'two'));
  const { tree, view, entity, group } = viewOf(b.finish());
  expect([...tree.groupChips]).toEqual([
    [entity('one'), [group('position')]],
    [entity('two'), [group('position')]]
  ]);
  let scene = await view.collapseAll();
  expect(scene.boxOf(entity('position'))).toBe(scene.boxOf(entity('one')));
  scene = await view.expand(group('one'));
  expect(scene.boxOf(entity('position'))).toBe(scene.boxOf(entity('two')));
  expect(sceneFaults(scene)).toEqual([]);
  // In the title of the first if all are expanded, and a box when it is expanded itself.
  scene = await view.expand(group('two'));
  expect(scene.boxOf(entity('position'))).toBe(scene.boxOf(entity('one')));
  expect(sceneFaults(scene)).toEqual([]);
  scene = await view.expand(group('position'));
  const position = scene.boxOf(entity('position'));
  expect(scene.boxEntity[position]).toBe(entity('position'));
  await view.collapse(group('position'));
  scene = await view.setHidden([entity('one')]);
  expect(scene.boxOf(entity('position'))).toBe(scene.boxOf(entity('two')));
});

it('constants that only a chip reads are part of it', async () => {
  const b = new PayloadBuilder();
  const x = b.input('x');
  const [t] = b.add('Transpose', [b.weight('w', [16, 16])], {
    scope: ['table']
  });
  const [u] = b.add('Mul', [t], { scope: ['position'] });
  const layer = (input: number, name: string) => {
    const [y] = b.add('MatMul', [input, u], { scope: [name], macs: 8 });
    return b.add('Relu', [y], { scope: [name] })[0];
  };
  b.output(layer(layer(x, 'one'), 'two'));
  const payload = b.finish();
  payload.scopes.origin = payload.scopes.label.map(label =>
    label.length === 3 ? 'scope' : 'plumbing'
  );
  const { tree, view, entity, group } = viewOf(payload);
  expect(tree.groupChips.get(entity('position'))).toEqual([group('table')]);
  const scene = await view.collapseAll();
  const one = scene.boxOf(entity('one'));
  expect(scene.boxOf(entity('position'))).toBe(one);
  expect(scene.boxOf(entity('table'))).toBe(one);
  // Expanded, the chip has the other one in its title.
  const open = await view.expand(group('position'));
  const position = open.boxOf(entity('position'));
  expect(open.boxEntity[position]).toBe(entity('position'));
  expect(open.boxOf(entity('table'))).toBe(position);
  expect(sceneFaults(open)).toEqual([]);
});

it('a node and its preparation share the box of the node', async () => {
  const b = new PayloadBuilder();
  const x = b.input('x');
  const scope = ['Reshape + sizes:Reshape:plumbing'];
  const [s] = b.add('Shape', [x], { scope });
  const [r] = b.add('Reshape', [x, s], { name: 'r', scope });
  b.output(b.add('Relu', [r])[0]);
  const { view, tree, group, model } = viewOf(b.finish());
  const own = group('Reshape + sizes');
  const r0 = model.payload.nodes.name.indexOf('r');
  expect(tree.groupMain[own]).toBe(r0);
  await view.collapseAll();
  await view.reveal(r0);
  expect(view.isOpen(own)).toBe(false);
  await view.reveal(model.payload.nodes.name.indexOf('Shape_0'));
  expect(view.isOpen(own)).toBe(true);
});

it('random models with chips stay valid while groups expand and collapse', async () => {
  let chips = 0;
  for (let seed = 0; seed < 12; seed++) {
    const random = new Random(seed);
    const payload = randomPayload(random, 60);
    const { origin } = payload.scopes;
    payload.scopes.origin = origin.map(one =>
      random.int(2) ? 'plumbing' : one
    );
    payload.scopes.type = payload.scopes.type.map(() => '');
    const { view, tree } = viewOf(payload);
    chips += tree.groupChips.size;
    await view.openInitialIn(12, seed % 2 ? 'auto' : 'wrapped', {
      w: 700,
      h: 560
    });
    for (let step = 0; step < 8 && tree.groupCount > 0; step++) {
      const group = random.int(tree.groupCount);
      const scene = await (view.isOpen(group)
        ? view.collapse(group)
        : view.expand(group));
      expect({ seed, step, faults: sceneFaults(scene) }).toEqual({
        seed,
        step,
        faults: []
      });
    }
  }
  expect(chips).toBeGreaterThan(3);
});
