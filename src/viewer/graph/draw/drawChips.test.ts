// @vitest-environment jsdom
import { describe, expect, it } from 'vitest';
import { PayloadBuilder } from '../../../core/testing/builder';
import type { GraphPayload } from '../../../schema';
import { chipText, displayedEntity } from '../../../core/tree/chips';
import { chipAt } from './drawChips';
import {
  calls,
  click,
  element,
  frame,
  host,
  model,
  onSurface,
  show,
  surface,
  tree,
  view
} from '../testing/drawn';

onSurface();

/** A Reshape with its own size computation, then a layer with its own mask. */
function prepared(): GraphPayload {
  const b = new PayloadBuilder();
  const x = b.input('x');
  const m = b.input('m');
  const wrap = ['Reshape + sizes, weights · 2:Reshape:plumbing'];
  const [s] = b.add('Shape', [x], { scope: wrap });
  const [t] = b.add('Gather', [s], { scope: wrap });
  const [r] = b.add('Reshape', [x, t], { name: 'r', scope: wrap });
  const mask = ['Mask::plumbing'];
  const [u] = b.add('Cast', [m], { scope: mask });
  const [v] = b.add('Expand', [u], { scope: mask });
  const layer = ['layer:Layer'];
  const [y] = b.add('MatMul', [r], { scope: layer, macs: 8 });
  b.output(b.add('Add', [y, v], { scope: layer })[0]);
  return b.finish();
}

async function closed(): Promise<void> {
  await show(prepared());
  surface.setScene(await view.collapseAll(), model, tree);
  surface.setCamera({ ...surface.camera, k: 1 });
  await frame();
}

const texts = (card: Element): (string | null)[] =>
  [...card.querySelectorAll('text')].map(text => text.textContent);

describe('chips', () => {
  it('are on the box of their consumer, which keeps its look', async () => {
    await closed();
    expect(texts(element('Reshape'))).toEqual([
      'sizes, weights · 2',
      'Reshape'
    ]);
    expect(texts(element('Layer'))).toContain('mask · 2');
    // One is an operator, the other a block with contents.
    const outlines = (name: string) =>
      element(name).querySelectorAll('rect').length;
    expect(outlines('Reshape')).toBeLessThan(outlines('Layer'));
  });

  it('are in the accessible name', async () => {
    await closed();
    const accessibleName = (name: string) =>
      element(name).getAttribute('aria-label');
    expect(accessibleName('Layer')).toMatch(/, prepared by mask · 2$/);
    expect(accessibleName('Reshape')).toMatch(
      /, prepared by sizes, weights · 2$/
    );
  });

  it('expand and collapse with a click', async () => {
    await closed();
    const chip = [...element('Layer').querySelectorAll('text')].find(
      text => text.textContent === 'mask · 2'
    )!;
    const x = Number(chip.getAttribute('x'));
    click(element('Layer'), {}, x);
    const mask = tree.groupLabel.indexOf('Mask');
    expect(calls.onActivate).toHaveBeenLastCalledWith(
      tree.model.nodeCount + mask,
      { recursive: false }
    );
    expect(calls.onSelect).not.toHaveBeenCalled();
    // Next to it, a click selects the card.
    click(element('Reshape'), {}, 20);
    expect(calls.onActivate).toHaveBeenCalledTimes(1);
    expect(calls.onSelect).toHaveBeenCalledTimes(1);
    expect(host.querySelectorAll('.oad-box').length).toBeGreaterThan(3);
  });

  it('of constants are in the title of their reader if it is open', async () => {
    const b = new PayloadBuilder();
    const x = b.input('x');
    const [t] = b.add('Transpose', [b.weight('w', [16, 16])], {
      scope: ['Weights::plumbing']
    });
    const layer = ['layer:Layer'];
    const [y] = b.add('MatMul', [x, t], { scope: layer, macs: 8 });
    b.output(b.add('Relu', [y], { scope: layer })[0]);
    await show(b.finish());
    const group = (label: string) => tree.groupLabel.indexOf(label);
    await view.expand(group('layer'));
    surface.setScene(view.scene, model, tree);
    surface.setCamera({ ...surface.camera, k: 1 });
    await frame();
    expect(texts(element('Layer'))).toContain('weights · 1');
    expect(element('Layer').getAttribute('aria-label')).toMatch(
      /, prepared by weights · 1$/
    );
    const chip = [...element('Layer').querySelectorAll('text')].find(
      text => text.textContent === 'weights · 1'
    )!;
    click(element('Layer'), {}, Number(chip.getAttribute('x')));
    expect(calls.onActivate).toHaveBeenLastCalledWith(
      tree.model.nodeCount + group('Weights'),
      { recursive: false }
    );
    // At low zoom it is a mark.
    const rects = () => element('Layer').querySelectorAll('rect').length;
    const atReadingZoom = rects();
    surface.setCamera({ ...surface.camera, k: 0.4 });
    await frame();
    expect(texts(element('Layer'))).not.toContain('weights · 1');
    expect(rects()).toBe(atReadingZoom);
  });

  it('have a label with a count, and are hit where they are drawn', async () => {
    await closed();
    const of = (label: string) => tree.groupLabel.indexOf(label);
    expect(chipText(tree, of('Mask'))).toBe('mask · 2');
    const wrap = of('Reshape + sizes, weights · 2');
    expect(chipText(tree, wrap)).toBe('sizes, weights · 2');
    const { nodeCount } = tree.model;
    expect(tree.model.opType(displayedEntity(tree, nodeCount + wrap))).toBe(
      'Reshape'
    );
    expect(displayedEntity(tree, nodeCount + of('Mask'))).toBe(
      nodeCount + of('Mask')
    );
    const chips = [{ group: 7, text: '', w: 30, x: 50 }];
    expect(chipAt(chips, 51, 10)).toBe(7);
    expect(chipAt(chips, 49, 10)).toBe(-1);
    expect(chipAt(chips, 51, 40)).toBe(-1);
  });
});
