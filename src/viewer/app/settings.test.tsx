// @vitest-environment jsdom
import { act, render } from '@testing-library/react';
import * as React from 'react';
import { expect, test, vi } from 'vitest';
import { repeatPayload, resnetPayload } from '../../core/testing/payloads';
import { BoxKind } from '../../core/types';
import type { IViewerSettings } from '../state/api';
import { MemoryProvider } from '../../providers/memoryProvider';
import { guardConsole, flushUpdates, settleDrawn } from '../testing/render';
import { FakeSurface, surface } from '../testing/surface';
import { Viewer } from './Viewer';
import type { GraphPayload } from '../../schema';

vi.mock('../graph/surface', async () => ({
  GraphSurface: (await import('../testing/surface')).FakeSurface
}));
vi.mock(
  '../graph/cards/cardSizer',
  async () => await import('../testing/sizer')
);

guardConsole();

/** A viewer whose host changes its settings. */
async function open(payload: GraphPayload, state?: object) {
  const provider = new MemoryProvider(payload, {});
  const saved: object[] = [];
  const draw = (settings: Partial<IViewerSettings>): JSX.Element => (
    <Viewer
      provider={provider}
      settings={settings}
      state={state}
      onStateChange={(_, state) => saved.push(state)}
    />
  );
  const { container, rerender } = render(draw({}));
  await settleDrawn(container);
  const change = async (settings: Partial<IViewerSettings>): Promise<void> => {
    rerender(draw(settings));
    await flushUpdates();
  };
  return { change, saved, provider };
}

const cards = (): number =>
  surface().scene!.boxKind.filter(kind => kind <= BoxKind.Group).length;

test('box budget, heatmap and direction apply to open views', async () => {
  const { change, provider } = await open(resnetPayload([3, 3, 3, 3]));
  const before = cards();
  await change({ boxBudget: 6 });
  expect(cards()).toBeLessThan(before);
  expect(cards()).toBeLessThanOrEqual(6);
  await change({ boxBudget: 6, overlay: 'none' });
  expect(surface().overlay).toBeNull();
  await change({ boxBudget: 6, overlay: 'params' });
  expect(surface().overlay).not.toBeNull();
  await change({ boxBudget: 6, overlay: 'params', direction: 'down' });
  expect(surface().scene!.direction).toBe('down');
  expect(provider.loads.length).toBe(1);
});

test('a new wheel setting recreates the surface with the same camera', async () => {
  const { change } = await open(repeatPayload(3));
  const first = surface();
  act(() => first.setCamera({ x: 5, y: 6, k: 2 }));
  await change({ wheel: 'zoom' });
  expect(FakeSurface.last).not.toBe(first);
  expect(first.disposed).toBe(true);
  expect(surface().camera).toEqual({ x: 5, y: 6, k: 2 });
  expect(surface().scene).not.toBeNull();
});

test('a change of assumed dimensions starts a new analysis', async () => {
  const { change, provider } = await open(repeatPayload(3));
  await change({ assumeDims: false });
  expect(provider.loads.map(load => load.assume)).toEqual([true, false]);
});

test('unchanged settings keep the choices of the user', async () => {
  const { change } = await open(repeatPayload(3), {
    version: 1,
    overlay: 'params',
    showNames: true
  });
  const overlay = surface().overlay;
  await change({ minimap: false });
  expect(surface().overlay?.text?.(0)).toBe(overlay?.text?.(0));
});

test('only differences from the settings are saved for a model', async () => {
  vi.useFakeTimers();
  try {
    const { change, saved } = await open(repeatPayload(3));
    await change({ showNames: true });
    await act(() => vi.advanceTimersByTimeAsync(1500));
    const state = saved[saved.length - 1] as Record<string, unknown>;
    for (const key of ['showNames', 'scale', 'overlay', 'assume']) {
      expect(state, key).not.toHaveProperty(key);
    }
    expect(state).toHaveProperty('open');
    expect(state).toHaveProperty('version');
  } finally {
    vi.useRealTimers();
  }
});
