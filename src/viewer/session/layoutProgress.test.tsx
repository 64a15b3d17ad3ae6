// @vitest-environment jsdom
import { act, fireEvent, screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { InlineEngine } from '../../core/layout/engine/layoutEngine';
import type { ILayoutEngine } from '../../core/layout/engine/layoutEngine';
import type { Flow } from '../../core/types';
import { guardConsole, mount, flushUpdates } from '../testing/render';
import { surface } from '../testing/surface';
import { testPayload } from '../testing/payload';

vi.mock('../graph/surface', async () => ({
  GraphSurface: (await import('../testing/surface')).FakeSurface
}));
vi.mock(
  '../graph/cards/cardSizer',
  async () => await import('../testing/sizer')
);

guardConsole();

/** Lays out at once, or never if it `hangs`. */
class Engine extends InlineEngine implements ILayoutEngine {
  hangs = false;

  override layout(...args: Parameters<InlineEngine['layout']>) {
    return this.hangs
      ? (new Promise(() => undefined) as never)
      : super.layout(...args);
  }
}

async function open(direction: Flow = 'auto') {
  const engine = new Engine();
  const mounted = await mount(
    testPayload(),
    {},
    { makeLayoutEngine: () => engine, settings: { boxBudget: 1, direction } }
  );
  return { engine, ...mounted };
}

const LONG = 1000;

async function wait(): Promise<void> {
  await act(async () => {
    await new Promise(resolve => setTimeout(resolve, LONG));
  });
}

const progressNote = () => screen.queryByText('Computing the layout');

test('a long layout shows its progress, and Cancel restores the graph', async () => {
  const { engine, root } = await open();
  const before = surface().scene?.boxEntity;
  engine.hangs = true;
  fireEvent.keyDown(root, { key: 'e', code: '' });
  await flushUpdates();
  expect(progressNote()).toBeNull();
  await wait();
  expect(progressNote()).not.toBeNull();
  expect(screen.getByRole('progressbar', { name: 'Layout' })).toBeTruthy();
  engine.hangs = false;
  fireEvent.click(screen.getByRole('button', { name: 'Cancel' }));
  await flushUpdates();
  expect(progressNote()).toBeNull();
  expect(surface().scene?.boxEntity).toEqual(before);
});

test('the scene version is set after the first layout', async () => {
  const engine = new Engine();
  engine.hangs = true;
  const { root } = await mount(
    testPayload(),
    {},
    { makeLayoutEngine: () => engine }
  );
  const host = root.querySelector<HTMLElement>('.oad-GraphHost')!;
  expect(surface().scene?.boxEntity).toHaveLength(0);
  expect(host.dataset.sceneVersion).toBeUndefined();
  engine.hangs = false;
  fireEvent.keyDown(root, { key: 'e', code: '' });
  await flushUpdates();
  expect(surface().scene?.boxEntity.length).toBeGreaterThan(0);
  expect(host.dataset.sceneVersion).toMatch(/^[1-9]/);
});

test('Escape stops a change of direction', async () => {
  const { engine, root, handle } = await open('right');
  const before = surface().scene;
  engine.hangs = true;
  fireEvent.keyDown(root, { key: 'k', code: '' });
  await wait();
  expect(progressNote()).not.toBeNull();
  engine.hangs = false;
  fireEvent.keyDown(root, { key: 'Escape', code: '' });
  await flushUpdates();
  expect(progressNote()).toBeNull();
  expect(handle.getState()).toMatchObject({ direction: 'right' });
  expect(surface().scene?.direction).toBe(before?.direction);
});
