import { describe, expect, it } from 'vitest';
import type { GraphPayload } from '../../schema';
import { decodePayload } from '../model/decodePayload';
import { fitZoom } from '../layout/paneZoom';
import {
  bertPayload,
  chainPayload,
  llamaPayload,
  resnetPayload
} from '../testing/payloads';
import { Random } from '../testing/random';
import { randomPayload } from '../testing/randomPayload';
import { sceneFaults } from '../testing/sceneFaults';
import { plainSizer } from '../testing/sizer';
import { buildTree } from '../tree/groupTree';
import type { IScene } from '../types';
import { createGraphView } from './graphView';

const PANE = { w: 1070, h: 640 };
const SMALL = { w: 700, h: 560 };

function viewOf(payload: GraphPayload) {
  const model = decodePayload(payload);
  const tree = buildTree(model);
  return createGraphView(tree, plainSizer(model, tree));
}

/** A scene without version and functions, for comparison. */
function comparable(scene: IScene): object {
  return { ...scene, version: 0, boxOf: null };
}

it('the initial view fits the pane and stays valid in rows', async () => {
  for (const payload of [resnetPayload(), bertPayload(), llamaPayload(4)]) {
    const view = viewOf(payload);
    const scene = await view.openInitialIn(40, 'auto', PANE);
    expect(fitZoom(scene, PANE)).toBeGreaterThanOrEqual(0.5);
    expect(sceneFaults(scene)).toEqual([]);
    expect(view.flow).toBe('auto');
  }
});

it('a long chain fits a small pane only in rows', async () => {
  const view = viewOf(chainPayload(30));
  const straight = await view.openInitialIn(40, 'right', SMALL);
  expect(view.rows).toBeNull();
  expect(fitZoom(straight, SMALL)).toBeLessThan(0.3);
  const scene = await view.openInitialIn(40, 'auto', SMALL);
  expect(view.rows?.room).toBeLessThan(SMALL.w * 2);
  expect(fitZoom(scene, SMALL)).toBeGreaterThan(0.5);
  expect(scene.direction).toBe('right');
});

it('random models in rows stay valid while groups expand and collapse', async () => {
  for (let seed = 0; seed < 12; seed++) {
    const random = new Random(seed);
    const view = viewOf(randomPayload(random, 60));
    await view.openInitialIn(12, 'wrapped', SMALL);
    for (let step = 0; step < 6 && view.tree.groupCount > 0; step++) {
      const group = random.int(view.tree.groupCount);
      const scene = await (view.isOpen(group)
        ? view.collapse(group)
        : view
            .reveal(view.tree.model.nodeCount + group)
            .then(() => view.expand(group)));
      expect({ seed, step, faults: sceneFaults(scene) }).toEqual({
        seed,
        step,
        faults: []
      });
    }
  }
});

it('ports are on the border of a panel whose title is wider than its rows', async () => {
  for (let seed = 0; seed < 12; seed++) {
    const model = decodePayload(randomPayload(new Random(seed), 60));
    const tree = buildTree(model);
    const sizer = plainSizer(model, tree);
    const view = createGraphView(tree, {
      ...sizer,
      group: () => ({ w: 420, h: 52 }),
      title: () => 400
    });
    await view.expandAll(60);
    for (const width of [260, 340, 420, 560]) {
      const rows = { room: width, beside: 0.45 };
      const scene = await view.restore(view.openGroups(), [], rows);
      expect({ seed, room: width, faults: sceneFaults(scene) }).toEqual({
        seed,
        room: width,
        faults: []
      });
    }
  }
});

it('rows keep their width while boxes expand, until the flow is set again', async () => {
  const view = viewOf(llamaPayload(4));
  await view.openInitialIn(20, 'wrapped', SMALL);
  const { rows } = view;
  expect(rows).not.toBeNull();
  await view.expandAll(200);
  expect(view.rows).toBe(rows);
  expect(view.scene.width).toBeLessThan((rows?.room ?? 0) * 1.2);
  await view.setFlow('wrapped', { w: 1800, h: 900 });
  expect(view.rows).not.toEqual(rows);
});

it('collapsing and expanding a box restores the layout', async () => {
  const view = viewOf(bertPayload());
  const before = comparable(await view.openInitialIn(20, 'wrapped', SMALL));
  const group = view.openGroups()[0];
  await view.collapse(group);
  expect(comparable(await view.expand(group))).toEqual(before);
});

it('expanded groups and rows restore the layout in another view', async () => {
  const view = viewOf(llamaPayload(6));
  const scene = await view.openInitialIn(40, 'auto', SMALL);
  const other = viewOf(llamaPayload(6));
  const restored = await other.restore(
    view.openGroups(),
    view.hidden(),
    view.rows
  );
  expect(comparable(restored)).toEqual(comparable(scene));
});

it('one row and top to bottom have no row breaks, also after leaving rows', async () => {
  const view = viewOf(bertPayload());
  const straight = comparable(await view.openInitial(40));
  await view.setFlow('wrapped', SMALL);
  expect(view.rows).not.toBeNull();
  expect(comparable(view.scene)).not.toEqual(straight);
  await view.setFlow('down', SMALL);
  expect([view.rows, view.scene.direction]).toEqual([null, 'down']);
  expect(comparable(await view.setFlow('right', SMALL))).toEqual(straight);
});

describe('compact boxes', () => {
  const TINY = { w: 420, h: 330 };

  /** A chain of large cards; `short` is the share of their height in compact form. */
  function large(short: number) {
    const model = decodePayload(chainPayload(24));
    const tree = buildTree(model);
    const size = (compact = false) =>
      compact ? { w: 120, h: 90 * short } : { w: 236, h: 90 };
    const sizer = {
      ...plainSizer(model, tree),
      node: (_: number, compact?: boolean) => size(compact),
      group: (_: number, compact?: boolean) => size(compact)
    };
    return createGraphView(tree, sizer);
  }

  const cards = (scene: IScene) =>
    new Set(
      scene.boxW.filter((_, b) => scene.boxKind[b] < 2).map(w => Math.round(w))
    );

  it('are used if full boxes do not fit, and increase the zoom', async () => {
    const complete = await large(1).openInitialIn(40, 'down', TINY);
    expect([...cards(complete)]).toEqual([236]);
    const view = large(0.5);
    const scene = await view.openInitialIn(40, 'auto', TINY);
    expect(view.rows?.compact).toBe(true);
    expect([...cards(scene)]).toEqual([120]);
    expect(sceneFaults(scene)).toEqual([]);
    const simple = await large(0.5).openInitialIn(40, 'auto', {
      w: 1800,
      h: 900
    });
    expect([...cards(simple)]).toEqual([236]);
  });

  it('are restored with the rows, and full again in one row', async () => {
    const view = large(0.5);
    const scene = await view.openInitialIn(40, 'wrapped', TINY);
    const other = large(0.5);
    const restored = await other.restore(
      view.openGroups(),
      view.hidden(),
      view.rows
    );
    expect(comparable(restored)).toEqual(comparable(scene));
    expect([...cards(await view.setFlow('right', TINY))]).toEqual([236]);
    expect([...cards(await view.setFlow('wrapped', TINY))]).toEqual([120]);
  });

  it('are not used if they do not increase the zoom', async () => {
    const model = decodePayload(chainPayload(24));
    const tree = buildTree(model);
    const sameSize = () => ({ w: 236, h: 90 });
    const sizer = {
      ...plainSizer(model, tree),
      node: sameSize,
      group: sameSize
    };
    const view = createGraphView(tree, sizer);
    const scene = await view.openInitialIn(40, 'auto', TINY);
    expect(fitZoom(scene, TINY)).toBeLessThan(0.5);
    expect(view.rows?.compact).toBeUndefined();
  });
});

it('a later call overtakes the choice of rows', async () => {
  const view = viewOf(llamaPayload(4));
  const arranging = view.openInitialIn(40, 'auto', SMALL);
  const closed = view.collapseAll();
  expect(await arranging).toBe(await closed);
  expect(view.openGroups()).toEqual([]);
});

it('50,000 boxes get rows with a moderate aspect ratio', async () => {
  const view = viewOf(llamaPayload(1700));
  await view.expandAll(1e6);
  const scene = await view.setFlow('auto', PANE);
  const shape = scene.width / scene.height;
  expect(shape).toBeGreaterThan(0.8);
  expect(shape).toBeLessThan(3.5);
});
