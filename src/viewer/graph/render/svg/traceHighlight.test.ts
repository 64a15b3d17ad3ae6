// @vitest-environment jsdom
import { expect, it } from 'vitest';
import { buildTree, createGraphView, decodePayload } from '../../../../core';
import { createSizer } from '../../cards/cardSizer';
import { GraphSurface } from '../../surface';
import { encoderPayload } from '../../testing/payload';

it('boxes outside the trace are dimmed until the scene changes', async () => {
  const host = document.createElement('div');
  document.body.append(host);
  Object.defineProperty(HTMLElement.prototype, 'clientWidth', { value: 1000 });
  Object.defineProperty(HTMLElement.prototype, 'clientHeight', { value: 600 });
  const model = decodePayload(encoderPayload(2));
  const tree = buildTree(model);
  const view = createGraphView(tree, createSizer(model, tree));
  await view.openInitial(40);
  const surface = new GraphSurface(host, {
    reducedMotion: true,
    minimap: false
  });
  surface.setScene(view.scene, model, tree);
  const root = host.querySelector('.oad-graph')!;
  const conv = host.querySelector('[role=button][aria-label^="Conv"]')!;
  const boxes = new Uint8Array(view.scene.boxCount);
  boxes[Number(conv.getAttribute('data-box'))] = 1;
  surface.setTraceHighlight({
    boxes,
    edges: new Uint8Array(view.scene.edgeCount)
  });
  expect(root.classList.contains('oad-tracing')).toBe(true);
  expect([...host.querySelectorAll('.oad-box.oad-trace-member')]).toEqual([
    conv
  ]);
  surface.setScene(await view.collapseAll(), model, tree);
  expect(root.classList.contains('oad-tracing')).toBe(false);
  expect(host.querySelector('.oad-trace-member')).toBeNull();
  surface.dispose();
});
