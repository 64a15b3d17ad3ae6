// @vitest-environment jsdom
import { act, fireEvent, screen } from '@testing-library/react';
import { describe, expect, test, vi } from 'vitest';
import { buildTree } from '../../core';
import { decodePayload } from '../../core/model/decodePayload';
import { PayloadBuilder } from '../../core/testing/builder';
import { guardConsole, mount, flushUpdates } from '../testing/render';
import { surface } from '../testing/surface';

vi.mock('../graph/surface', async () => ({
  GraphSurface: (await import('../testing/surface')).FakeSurface
}));
vi.mock(
  '../graph/cards/cardSizer',
  async () => await import('../testing/sizer')
);

guardConsole();

/** A layer with a mask and made weights of its own, and one with neither. */
function payload() {
  const b = new PayloadBuilder();
  const x = b.input('x');
  const m = b.input('m');
  const mask = ['Mask::plumbing'];
  const [u] = b.add('Cast', [m], { scope: mask });
  const [v] = b.add('Expand', [u], { scope: mask });
  const scope = ['Weights::plumbing'];
  const [w] = b.add('Transpose', [b.weight('w', [16, 16])], { scope: scope });
  const [s] = b.add('Cast', [w], { scope: scope });
  const layer = ['layer:Layer'];
  const [y] = b.add('MatMul', [x, s], { scope: layer, macs: 8 });
  const [z] = b.add('Add', [y, v], { scope: layer });
  const last = ['last:Last'];
  const [r] = b.add('Relu', [z], { scope: last });
  b.output(b.add('Softmax', [r], { scope: last })[0]);
  return b.finish();
}

const tree = buildTree(decodePayload(payload()));
const groupOf = (label: string): number =>
  tree.model.nodeCount + tree.groupLabel.indexOf(label);

/** Labels of the groups that are boxes, in order of the tree. */
const boxes = (): string[] =>
  ['Mask', 'Weights', 'layer', 'last'].filter(label => {
    const { scene } = surface();
    const box = scene!.boxOf(groupOf(label));
    return box >= 0 && scene!.boxEntity[box] === groupOf(label);
  });

async function press(root: HTMLElement, key: string, shiftKey = false) {
  fireEvent.keyDown(root, { key, code: '', shiftKey });
  await flushUpdates();
}

function select(label: string): void {
  act(() =>
    surface().callbacks.onSelect?.(groupOf(label), { additive: false })
  );
}

async function closed() {
  const mounted = await mount(payload());
  await press(mounted.root, 'E', true);
  expect(boxes()).toEqual(['layer', 'last']);
  return mounted;
}

describe('key M', () => {
  test('expands all chips of the selected box, and collapses them again', async () => {
    const { root } = await closed();
    select('layer');
    await press(root, 'm');
    expect(boxes()).toEqual(['Mask', 'Weights', 'layer', 'last']);
    await press(root, 'm');
    expect(boxes()).toEqual(['layer', 'last']);
  });

  test('collapses the selected box of an expanded chip', async () => {
    const { root } = await closed();
    select('layer');
    await press(root, 'm');
    select('Mask');
    await press(root, 'm');
    expect(boxes()).toEqual(['Weights', 'layer', 'last']);
  });

  test('does nothing for a box without chips', async () => {
    const { root } = await closed();
    await press(root, 'm');
    select('last');
    await press(root, 'm');
    expect(boxes()).toEqual(['layer', 'last']);
  });
});

test.each([
  ['layer', true],
  ['last', false]
])('the context menu of %s offers it: %s', async (label, isOffered) => {
  await closed();
  act(() =>
    surface().callbacks.onContextMenu?.(
      { kind: 'entity', id: groupOf(label) },
      { x: 5, y: 5 }
    )
  );
  await flushUpdates();
  expect(
    screen.getByRole('menuitem', { name: /Hide the selection/ })
  ).toBeTruthy();
  const entry = screen.queryByRole('menuitem', {
    name: /Expand or collapse the preparation of the selected box/
  });
  expect(entry !== null).toBe(isOffered);
});
