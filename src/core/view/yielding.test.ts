import { expect, it, vi } from 'vitest';
import { decodePayload } from '../model/decodePayload';
import { llamaPayload } from '../testing/payloads';
import { plainSizer } from '../testing/sizer';
import { buildTree } from '../tree/groupTree';
import { createGraphView } from './graphView';

function slowView() {
  const model = decodePayload(llamaPayload(6));
  const tree = buildTree(model);
  const view = createGraphView(tree, plainSizer(model, tree));
  // The clock advances a second per reading: each level takes long.
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => (now += 1000));
  return view;
}

it('a long layout yields to the page and reports its progress', async () => {
  const view = slowView();
  const shares: number[] = [];
  view.onProgress = share => shares.push(share);
  let ticks = 0;
  const other = setInterval(() => ticks++);
  const scene = await view.expandAll(1e6);
  clearInterval(other);
  expect(shares.length).toBeGreaterThan(2);
  expect(shares).toEqual([...shares].sort((a, b) => a - b));
  expect(Math.max(...shares)).toBeLessThan(1);
  expect(ticks).toBeGreaterThan(0);
  vi.restoreAllMocks();
  expect(scene.boxEntity).toEqual((await view.expandAll(1e6)).boxEntity);
});

it('a later call overtakes a long layout', async () => {
  const view = slowView();
  const before = await view.openInitial(10);
  const open = view.openGroups();
  const expansion = view.expandAll(1e6);
  await new Promise(resolve => setTimeout(resolve));
  const restored = await view.restore(open);
  vi.restoreAllMocks();
  expect(await expansion).toBe(restored);
  expect(restored.boxEntity).toEqual(before.boxEntity);
  expect(view.openGroups()).toEqual(open);
});

it('a view disposed of during a layout returns its previous scene', async () => {
  const view = slowView();
  const before = view.scene;
  const expansion = view.expandAll(1e6);
  view.dispose();
  vi.restoreAllMocks();
  expect(await expansion).toBe(before);
});
