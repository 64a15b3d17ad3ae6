import { describe, expect, it } from 'vitest';
import { InlineEngine } from '../layout/engine/layoutEngine';
import type { ILayoutEngine } from '../layout/engine/layoutEngine';
import type {
  ILayoutInput,
  ILayoutOptions,
  ILayoutResult
} from '../layout/layered/layoutTypes';
import { decodePayload } from '../model/decodePayload';
import { Random } from '../testing/random';
import { randomPayload } from '../testing/randomPayload';
import {
  bertPayload,
  chainPayload,
  controlPayload,
  llamaPayload,
  resnetPayload
} from '../testing/payloads';
import { emptyPayload, PayloadBuilder } from '../testing/builder';
import { sceneFaults } from '../testing/sceneFaults';
import { plainSizer } from '../testing/sizer';
import { buildTree } from '../tree/groupTree';
import { BoxKind } from '../types';
import type { IScene } from '../types';
import { createGraphView } from './graphView';
import type { GraphPayload } from '../../schema';

function viewOf(payload: GraphPayload, engine?: ILayoutEngine) {
  const model = decodePayload(payload);
  const tree = buildTree(model);
  return createGraphView(tree, plainSizer(model, tree), engine);
}

/** Entities drawn as cards: nodes and collapsed groups. */
function cards(scene: IScene): number[] {
  const nodes: number[] = [];
  for (let b = 0; b < scene.boxCount; b++) {
    if (scene.boxKind[b] <= BoxKind.Group) {
      nodes.push(scene.boxEntity[b]);
    }
  }
  return nodes;
}

function count(scene: IScene, kind: BoxKind): number {
  return scene.boxKind.filter(k => k === kind).length;
}

/** A scene without version and functions, for comparison. */
function comparable(scene: IScene): object {
  return { ...scene, version: 0, boxOf: null };
}

function groupNamed(view: ReturnType<typeof viewOf>, label: string): number {
  const group = view.tree.groupLabel.indexOf(label);
  expect(group).toBeGreaterThanOrEqual(0);
  return group;
}

describe.each(['right', 'down'] as const)('scenes that flow %s', direction => {
  it('stay valid while groups expand and collapse', async () => {
    for (let seed = 0; seed < 40; seed++) {
      const random = new Random(seed);
      const view = viewOf(randomPayload(random, 60));
      await view.setDirection(direction);
      await view.openInitial(1 + random.int(30));
      expect({ seed, faults: sceneFaults(view.scene) }).toEqual({
        seed,
        faults: []
      });
      for (let step = 0; step < 6 && view.tree.groupCount > 0; step++) {
        const group = random.int(view.tree.groupCount);
        const recursive = random.chance(0.3);
        const scene = random.chance(0.6)
          ? await view.expand(group, recursive)
          : await view.collapse(group, recursive);
        expect({ seed, step, faults: sceneFaults(scene) }).toEqual({
          seed,
          step,
          faults: []
        });
      }
    }
  });

  it('are unchanged after expanding and collapsing', async () => {
    for (let seed = 0; seed < 20; seed++) {
      const view = viewOf(randomPayload(new Random(seed), 60));
      await view.setDirection(direction);
      const before = comparable(await view.collapseAll());
      for (let group = 0; group < view.tree.groupCount; group++) {
        await view.expand(group);
      }
      for (let group = view.tree.groupCount - 1; group >= 0; group--) {
        await view.collapse(group);
      }
      expect(comparable(view.scene)).toEqual(before);
    }
  });

  it('show every node once when fully expanded', async () => {
    for (let seed = 0; seed < 30; seed++) {
      const view = viewOf(randomPayload(new Random(seed), 80));
      await view.setDirection(direction);
      const scene = await view.expandAll(1e6);
      expect(scene.direction).toBe(direction);
      const { model } = view.tree;
      const drawnNodes = Array.from(model.nodeConstant.keys()).filter(
        node => !model.nodeConstant[node]
      );
      expect(cards(scene).sort((a, b) => a - b)).toEqual(drawnNodes);
      expect(sceneFaults(scene)).toEqual([]);
    }
  });

  it('do not depend on the order of operations', async () => {
    const payload = randomPayload(new Random(5), 80);
    const [first, second] = [viewOf(payload), viewOf(payload)];
    await first.setDirection(direction);
    await first.expandAll(1e6);
    await second.setDirection(direction);
    for (let group = second.tree.groupCount - 1; group >= 0; group--) {
      await second.expand(group);
    }
    expect(comparable(second.scene)).toEqual(comparable(first.scene));
  });
});

describe('the direction', () => {
  it('rotates the layout and keeps the size of boxes', async () => {
    const view = viewOf(resnetPayload());
    const across = await view.openInitial(40);
    const down = await view.setDirection('down');
    expect(across.width).toBeGreaterThan(across.height);
    expect(down.height).toBeGreaterThan(down.width);
    expect(cards(down)).toEqual(cards(across));
    for (const entity of cards(down)) {
      const [a, b] = [across.boxOf(entity), down.boxOf(entity)];
      expect([down.boxW[b], down.boxH[b]]).toEqual([
        across.boxW[a],
        across.boxH[a]
      ]);
    }
  });

  it('is cached: changing it and back computes no layout', async () => {
    const view = viewOf(bertPayload(3));
    const before = comparable(await view.expandAll(1e6));
    await view.setDirection('down');
    const { computed } = view.layoutCounts();
    expect(comparable(await view.setDirection('right'))).toEqual(before);
    await view.setDirection('down');
    expect(view.layoutCounts().computed).toBe(computed);
  });

  it('places ports at the top and bottom', async () => {
    const view = viewOf(resnetPayload());
    await view.setDirection('down');
    const scene = await view.expandAll(1e6);
    let ports = 0;
    for (let b = 0; b < scene.boxCount; b++) {
      const panel = scene.boxParent[b];
      if (scene.boxKind[b] === BoxKind.Port && panel >= 0) {
        const middle = scene.boxY[b] + scene.boxH[b] / 2;
        const top = scene.boxY[panel];
        const sides = [top, top + scene.boxH[panel]];
        expect(sides.some(side => Math.abs(side - middle) < 0.01)).toBe(true);
        ports++;
      }
    }
    expect(ports).toBeGreaterThan(10);
  });

  it('is that of the last call', async () => {
    const view = viewOf(resnetPayload());
    const [a, b] = await Promise.all([
      view.setDirection('down'),
      view.setDirection('right')
    ]);
    expect([a.direction, b.direction]).toContain('right');
    expect(view.scene.direction).toBe('right');
    expect(sceneFaults(view.scene)).toEqual([]);
  });
});

describe('initial view', () => {
  it.each([
    ['resnet', resnetPayload(), 40],
    ['bert', bertPayload(12), 40],
    ['llama', llamaPayload(24, 3), 40],
    ['experts', llamaPayload(2, 3, 16), 60],
    ['bodies', controlPayload(), 40]
  ])(
    'of %s stays within its budget and is valid',
    async (_, payload, budget) => {
      const view = viewOf(payload);
      const scene = await view.openInitial(budget);
      expect(cards(scene).length).toBeLessThanOrEqual(budget);
      expect(cards(scene).length).toBeGreaterThan(4);
      expect(sceneFaults(scene)).toEqual([]);
    }
  );

  it('is no longer than the pane, unless it would have few boxes', async () => {
    const view = viewOf(resnetPayload([3, 3, 3, 3]));
    const scene = await view.openInitial(40);
    const short = await view.openInitial(40, scene.width - 1);
    expect(short.width).toBeLessThan(scene.width);
    expect(cards(short).length).toBeGreaterThanOrEqual(6);
    const least = await view.openInitial(40, 1);
    expect(cards(least).length).toBeGreaterThanOrEqual(6);
    expect(least.width).toBeLessThanOrEqual(short.width);
    expect((await view.openInitial(40, scene.width)).width).toBe(scene.width);
  });

  /**
   * Embedding lookups, a mask and two products: the tables have the weights, the products the arithmetic.
   */
  function maskedPayload() {
    const b = new PayloadBuilder('masked');
    const block = (scope: string, op: string, x: number, params: number) => {
      for (let repeat = 0; repeat < 5; repeat++) {
        [x] = b.add(op, [x], { scope: [scope], params });
      }
      return x;
    };
    const gather = block('embeddings:E', 'Gather', b.input('ids'), 5000);
    const hidden = block('mask:M', 'Where', b.input('mask'), 1);
    let [x] = b.add('Add', [gather, hidden]);
    for (let product = 0; product < 2; product++) {
      [x] = b.add('MatMul', [x], { macs: 1000, params: 100 });
    }
    b.output(x);
    return b.finish();
  }

  it('keeps blocks for masks and shapes collapsed', async () => {
    const view = viewOf(maskedPayload());
    await view.openInitial(40);
    expect(view.isOpen(groupNamed(view, 'embeddings'))).toBe(true);
    expect(view.isOpen(groupNamed(view, 'mask'))).toBe(false);
  });

  it('is not made longer than the pane by nodes without arithmetic', async () => {
    const view = viewOf(maskedPayload());
    const scene = await view.openInitial(40);
    const short = await view.openInitial(40, scene.width - 1);
    expect(view.isOpen(groupNamed(view, 'embeddings'))).toBe(false);
    expect(cards(short).length).toBe(5);
  });

  it('is overtaken by a later request', async () => {
    const view = viewOf(resnetPayload([3, 3, 3, 3]));
    const first = view.openInitial(40, 2000);
    const closed = view.collapseAll();
    expect(await first).toBe(await closed);
    expect(view.openGroups()).toEqual([]);
  });

  it('expands a single top-level block whatever its size', async () => {
    const scene = await viewOf(llamaPayload(100)).openInitial(10);
    expect(cards(scene).length).toBeGreaterThan(1);
  });

  it('expands similar groups together', async () => {
    const view = viewOf(resnetPayload([3, 3, 3, 3]));
    await view.openInitial(40);
    const stages = [0, 1, 2, 3].map(i =>
      view.isOpen(groupNamed(view, `stages.${i}`))
    );
    expect(new Set(stages)).toEqual(new Set([true]));
  });

  it('of a model without scopes is flat', async () => {
    const view = viewOf(chainPayload(30));
    const scene = await view.openInitial(10);
    expect(view.tree.groupCount).toBe(0);
    expect(cards(scene).length).toBe(30);
    expect(count(scene, BoxKind.Input)).toBe(1);
    expect(count(scene, BoxKind.Output)).toBe(1);
    expect(new Set(scene.boxY).size).toBeLessThanOrEqual(3);
  });

  it('of an empty model is empty', async () => {
    const scene = await viewOf(emptyPayload('nothing')).openInitial(40);
    expect([scene.boxCount, scene.edgeCount, scene.width]).toEqual([0, 0, 0]);
  });
});

describe('edges across group borders', () => {
  it('go through a port of the expanded group', async () => {
    const view = viewOf(bertPayload(2));
    const scene = await view.reveal(0);
    const ports = new Set<number>();
    for (let b = 0; b < scene.boxCount; b++) {
      if (scene.boxKind[b] === BoxKind.Port) {
        ports.add(b);
      }
    }
    expect(ports.size).toBeGreaterThan(0);
    for (const port of ports) {
      // What enters a port leaves it again.
      expect(scene.edgeSource.includes(port)).toBe(true);
      expect(scene.edgeTarget.includes(port)).toBe(true);
    }
  });

  it('to many distant consumers become stubs named after the tensor', async () => {
    const view = viewOf(bertPayload(12));
    const scene = await view.openInitial(40);
    const { model } = view.tree;
    const names: string[] = [];
    for (let b = 0; b < scene.boxCount; b++) {
      if (scene.boxKind[b] === BoxKind.Stub) {
        names.push(model.tensorName(scene.boxEntity[b]));
      }
    }
    expect(names.length).toBeGreaterThan(8);
    expect(new Set(names).size).toBe(1);
  });

  it('between collapsed groups carry all their tensors', async () => {
    const view = viewOf(llamaPayload(4, 13));
    await view.collapseAll();
    const scene = await view.expand(groupNamed(view, 'model'));
    expect(Math.max(...scene.edgeWeight)).toBe(13);
  });
});

describe('similar blocks', () => {
  /** A block whose inner group produces two tensors; their readers may be swapped. */
  function block(b: PayloadBuilder, x: number, name: string, swapped: boolean) {
    const inner = [name, 'inner'];
    const [a] = b.add('Relu', [x], { scope: inner });
    const [c] = b.add('Relu', [a], { scope: inner });
    const branches = swapped ? [c, a] : [a, c];
    const [p] = b.add('Exp', [branches[0]], { scope: [name] });
    const [q] = b.add('Exp', [branches[1]], { scope: [name] });
    return b.add('Add', [p, q], { scope: [name] })[0];
  }

  it('with different links keep their own edges', async () => {
    const b = new PayloadBuilder();
    const first = block(b, b.input('x'), 'first', false);
    b.output(block(b, first, 'second', true));
    const view = viewOf(b.finish());
    expect(sceneFaults(await view.expandAll(100))).toEqual([]);
  });
});

describe('operations', () => {
  it('reveal expands every ancestor', async () => {
    const view = viewOf(resnetPayload());
    await view.collapseAll();
    const node = 30;
    expect(view.scene.boxEntity[view.scene.boxOf(node)]).not.toBe(node);
    const scene = await view.reveal(node);
    expect(scene.boxEntity[scene.boxOf(node)]).toBe(node);
  });

  it('restore expands saved groups and ignores unknown ones', async () => {
    const view = viewOf(resnetPayload());
    await view.openInitial(40);
    const saved = view.openGroups();
    const before = comparable(view.scene);
    await view.expandAll(1e6);
    await view.restore([...saved, -3, 1e6]);
    expect(view.openGroups()).toEqual(saved);
    expect(comparable(view.scene)).toEqual(before);
  });

  it('expandAll stops at the depth that fits', async () => {
    const view = viewOf(resnetPayload());
    const scene = await view.expandAll(60);
    expect(cards(scene).length).toBeLessThanOrEqual(60);
    expect(cards(scene).length).toBeGreaterThan(10);
  });

  it('identical blocks are laid out once', async () => {
    const small = viewOf(llamaPayload(10));
    const many = viewOf(llamaPayload(100));
    await small.expandAll(1e6);
    await many.expandAll(1e6);
    expect(many.layoutCounts().computed).toBe(small.layoutCounts().computed);
    expect(many.layoutCounts().cached).toBeGreaterThan(400);
  });

  it('expandAll handles 50,000 nodes', async () => {
    const view = viewOf(llamaPayload(1700));
    const scene = await view.expandAll(1e6);
    expect(cards(scene).length).toBeGreaterThan(45000);
    expect(view.layoutCounts().computed).toBeLessThan(20);
  });
});

/** An engine that answers on demand. */
class SlowEngine implements ILayoutEngine {
  layout(input: ILayoutInput, options: ILayoutOptions): Promise<ILayoutResult> {
    return new Promise(resolve => {
      this.open.push(() => resolve(this._inline.layout(input, options)));
    });
  }

  inRows(...args: Parameters<InlineEngine['inRows']>): Promise<ILayoutResult> {
    return new Promise(resolve => {
      this.open.push(() => resolve(this._inline.inRows(...args)));
    });
  }

  dispose(): void {
    this.disposed = true;
  }

  readonly open: (() => void)[] = [];
  disposed = false;
  private readonly _inline = new InlineEngine();
}

describe('concurrent calls', () => {
  it('all resolve to the result of the last one', async () => {
    const engine = new SlowEngine();
    const view = viewOf(resnetPayload(), engine);
    const first = view.expandAll(1e6);
    const last = view.collapseAll();
    let isDone = false;
    const scenes = Promise.all([first, last]).finally(() => {
      isDone = true;
    });
    for (let attempt = 0; attempt < 1000 && !isDone; attempt++) {
      engine.open.shift()?.();
      await Promise.resolve();
    }
    const [a, b] = await scenes;
    expect(a).toBe(b);
    expect(b).toBe(view.scene);
    expect(view.openGroups()).toEqual([]);
    expect(sceneFaults(b)).toEqual([]);
  });

  it('dispose terminates the engine', () => {
    const engine = new SlowEngine();
    viewOf(chainPayload(3), engine).dispose();
    expect(engine.disposed).toBe(true);
  });
});
