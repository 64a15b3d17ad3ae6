// @vitest-environment jsdom
import { act, fireEvent, screen } from '@testing-library/react';
import { describe, expect, test, vi } from 'vitest';
import { buildTree } from '../../core';
import { decodePayload } from '../../core/model/decodePayload';
import { soloPart, partAt } from '../../core/tree/repeatParts';
import { repeatPayload } from '../../core/testing/payloads';
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

const COUNT = 5;
const tree = buildTree(decodePayload(repeatPayload(COUNT)));
const { nodeCount } = tree.model;
const fold = tree.groupIsRepeat.indexOf(1);

/** The only instance shown; -1 if all are. */
function shownInstance(): number {
  const scene = surface().scene!;
  return soloPart(
    tree,
    fold,
    part => scene.boxEntity[scene.boxOf(part)] !== part
  );
}

const selectedPart = (): number =>
  partAt(tree, surface().selection[0])?.index ?? -2;

async function press(root: HTMLElement, key: string): Promise<void> {
  fireEvent.keyDown(root, { key, code: '' });
  await flushUpdates();
}

async function step(by: 1 | -1 | 0): Promise<void> {
  act(() => surface().callbacks.onStep?.(nodeCount + fold, by));
  await flushUpdates();
}

function select(entity: number): void {
  act(() => surface().callbacks.onSelect?.(entity, { additive: false }));
}

const reluOf = (part: number): number =>
  [...tree.nodeOrder].filter(node => tree.model.opType(node) === 'Relu')[part];

describe('the instance control of a repeat', () => {
  test('steps through the instances and all of them together', async () => {
    await mount(repeatPayload(COUNT));
    expect(shownInstance()).toBe(0);
    await step(1);
    expect(shownInstance()).toBe(1);
    expect(selectedPart()).toBe(1);
    await step(-1);
    await step(-1);
    expect(shownInstance()).toBe(-1);
    await step(-1);
    expect(shownInstance()).toBe(COUNT - 1);
    await step(0);
    expect(shownInstance()).toBe(-1);
    await step(0);
    expect(shownInstance()).toBe(0);
  });

  test('does not count as hiding', async () => {
    await mount(repeatPayload(COUNT));
    expect(shownInstance()).toBe(0);
    expect(screen.queryByText(/hidden/)).toBeNull();
  });
});

describe('keys', () => {
  test('move the selection to the same node of the next instance', async () => {
    const { root } = await mount(repeatPayload(COUNT));
    select(reluOf(0));
    await press(root, 'PageDown');
    expect(surface().selection).toEqual([reluOf(1)]);
    expect(shownInstance()).toBe(1);
    await press(root, 'PageUp');
    expect(surface().selection).toEqual([reluOf(0)]);
  });

  test('keep all instances shown if they are', async () => {
    const { root } = await mount(repeatPayload(COUNT));
    await step(-1);
    select(reluOf(2));
    await press(root, ']');
    expect(surface().selection).toEqual([reluOf(3)]);
    expect(shownInstance()).toBe(-1);
  });

  test('can be undone with Back', async () => {
    const { root } = await mount(repeatPayload(COUNT));
    select(reluOf(0));
    await press(root, 'PageDown');
    await press(root, 'Backspace');
    expect(surface().selection).toEqual([reluOf(0)]);
    expect(shownInstance()).toBe(0);
  });
});

describe('the inspector', () => {
  test('shows the instance and selects any other', async () => {
    await mount(repeatPayload(COUNT));
    select(reluOf(0));
    await flushUpdates();
    const box = screen.getByLabelText<HTMLInputElement>('Part');
    expect(box.value).toBe('1');
    expect(screen.getByText(`of ${COUNT}`)).toBeTruthy();
    fireEvent.change(box, { target: { value: '4' } });
    fireEvent.keyDown(box, { key: 'Enter' });
    await flushUpdates();
    expect(surface().selection).toEqual([reluOf(3)]);
    expect(shownInstance()).toBe(3);
    fireEvent.change(box, { target: { value: '99' } });
    fireEvent.blur(box);
    expect(box.value).toBe('4');
    fireEvent.click(screen.getByText('Show all instances'));
    await flushUpdates();
    expect(shownInstance()).toBe(-1);
    expect(surface().selection).toEqual([reluOf(3)]);
    fireEvent.click(screen.getByLabelText('Next instance'));
    await flushUpdates();
    expect(surface().selection).toEqual([reluOf(4)]);
  });
});
