import { describe, expect, it } from 'vitest';
import { countHiddenNodes, canonicalHidden, allExcept } from './hiddenEntities';
import { decodePayload } from '../model/decodePayload';
import { PayloadBuilder } from '../testing/builder';
import { Random } from '../testing/random';
import { randomPayload } from '../testing/randomPayload';
import { resnetPayload } from '../testing/payloads';
import { sceneFaults } from '../testing/sceneFaults';
import { plainSizer } from '../testing/sizer';
import { buildTree } from './groupTree';
import { BoxKind, type IScene } from '../types';
import { createGraphView } from '../view/graphView';
import type { GraphPayload } from '../../schema';

function viewOf(payload: GraphPayload) {
  const model = decodePayload(payload);
  const tree = buildTree(model);
  const view = createGraphView(tree, plainSizer(model, tree));
  return { view, tree };
}

function entities(scene: IScene): Set<number> {
  return new Set(
    [...scene.boxKind.keys()]
      .filter(b => scene.boxKind[b] <= BoxKind.OpenGroup)
      .map(b => scene.boxEntity[b])
  );
}

/** A chain x → 0 → 1 → 2 → 3 → y, and a side branch x → 4 → z. */
function chain(): GraphPayload {
  const b = new PayloadBuilder();
  const x = b.input('x');
  let [t] = b.add('Relu', [x]);
  for (let i = 0; i < 3; i++) {
    [t] = b.add('Relu', [t]);
  }
  b.output(t);
  const [sigmoid] = b.add('Sigmoid', [x]);
  b.output(sigmoid);
  return b.finish();
}

const wires = (scene: IScene, from: BoxKind, to: BoxKind): number =>
  [...scene.edgeSource.keys()].filter(
    e =>
      e < scene.edgeCount &&
      scene.boxKind[scene.edgeSource[e]] === from &&
      scene.boxKind[scene.edgeTarget[e]] === to
  ).length;

const kinds = (scene: IScene, kind: BoxKind): number =>
  scene.boxKind.filter(k => k === kind).length;

describe('hidden entities', () => {
  it('leave a named stub at both ends of a hidden link', async () => {
    const { view } = viewOf(chain());
    await view.openInitial(40);
    const scene = await view.setHidden([1]);
    expect([...entities(scene)].sort()).toEqual([0, 2, 3, 4]);
    expect(kinds(scene, BoxKind.Stub)).toBe(2);
    expect(wires(scene, BoxKind.Node, BoxKind.Stub)).toBe(1);
    expect(wires(scene, BoxKind.Stub, BoxKind.Node)).toBe(1);
    expect(view.hidden()).toEqual([1]);
    expect(scene.boxOf(1)).toBe(-1);
    const complete = await view.setHidden([]);
    expect(entities(complete).size).toBe(5);
    expect(kinds(complete, BoxKind.Stub)).toBe(0);
  });

  it('hide pills whose consumers or producers are all hidden', async () => {
    const { view } = viewOf(chain());
    await view.openInitial(40);
    const scene = await view.setHidden([4]);
    expect(kinds(scene, BoxKind.Output)).toBe(1);
    expect(kinds(scene, BoxKind.Input)).toBe(1);
    const more = await view.setHidden([0, 4]);
    expect(kinds(more, BoxKind.Input)).toBe(0);
    const none = await view.setHidden([0, 1, 2, 3, 4]);
    expect(none.boxCount).toBe(0);
  });

  it('are shown again when revealed, and only those', async () => {
    const { view } = viewOf(chain());
    await view.openInitial(40);
    await view.setHidden([1, 2]);
    const scene = await view.reveal(2);
    expect(view.hidden()).toEqual([1]);
    expect(entities(scene).has(2)).toBe(true);
  });

  it('keep scenes valid for random sets in random models', async () => {
    for (let seed = 1; seed <= 25; seed++) {
      const random = new Random(seed);
      const { view, tree } = viewOf(randomPayload(random, 60));
      const entityCount = tree.model.nodeCount + tree.groupCount;
      const isVisible =
        tree.model.nodeCount - tree.model.payload.nodes.constant.length;
      await view.openInitial(12);
      for (let round = 0; round < 4; round++) {
        const hidden = Array.from({ length: random.int(12) }, () =>
          random.int(entityCount)
        );
        await view.setHidden(hidden);
        const scene = await view.expandAll(10_000);
        expect(sceneFaults(scene)).toEqual([]);
        const visible = entities(scene);
        for (const entity of view.hidden()) {
          expect(visible.has(entity)).toBe(false);
        }
        const below = countHiddenNodes(tree, view.hidden());
        const nodes = [...visible].filter(e => e < tree.model.nodeCount).length;
        expect(nodes + below).toBe(isVisible);
        await view.collapseAll();
      }
      await view.setHidden([]);
      const complete = await view.expandAll(10_000);
      expect(entities(complete).size).toBe(
        tree.nodeOrder.length + tree.groupCount
      );
    }
  });

  it('are reduced to an equivalent smaller set', () => {
    const tree = buildTree(decodePayload(resnetPayload()));
    const { nodeCount } = tree.model;
    const group = tree.children[0].find(entity => entity >= nodeCount)!;
    const children = tree.children[group - nodeCount + 1];
    expect(canonicalHidden(tree, children)).toEqual([group]);
    expect(canonicalHidden(tree, [...children, group, -5, 1e9])).toEqual([
      group
    ]);
    const hidden = [...children.slice(1)].sort((a, b) => a - b);
    expect(canonicalHidden(tree, hidden)).toEqual(hidden);
  });

  it('are all others when only some entities are shown', async () => {
    const { view, tree } = viewOf(resnetPayload());
    const deep = 40;
    await view.expandAll(10_000);
    const scene = await view.setHidden(allExcept(tree, [deep]));
    const visible = [...entities(scene)].filter(e => e < tree.model.nodeCount);
    expect(visible).toEqual([deep]);
    expect(sceneFaults(scene)).toEqual([]);
    expect(allExcept(tree, [])).toEqual([]);
  });

  it('stay hidden after expanding, collapsing and restoring', async () => {
    const { view } = viewOf(resnetPayload());
    const deep = 40;
    await view.openInitial(40);
    await view.setHidden([deep]);
    const open = await view.expandAll(10_000);
    expect(entities(open).has(deep)).toBe(false);
    const groups = view.openGroups();
    const { view: other } = viewOf(resnetPayload());
    const scene = await other.restore(groups, view.hidden());
    expect([...entities(scene)].sort()).toEqual([...entities(open)].sort());
  });
});
