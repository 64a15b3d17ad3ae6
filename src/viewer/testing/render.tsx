/** Renders a viewer for a payload and fails on any React warning. */

import {
  act,
  cleanup,
  render,
  type RenderResult
} from '@testing-library/react';
import * as React from 'react';
import { afterEach, beforeEach, expect, vi } from 'vitest';
import {
  MemoryProvider,
  type IMemoryProviderOptions
} from '../../providers/memoryProvider';
import type { IReportProvider } from '../../providers/provider';
import type { GraphPayload } from '../../schema';
import type { IViewerHandle, IViewerProps } from '../state/api';
import { loadAll } from '../lazy/lazyCode';
import { Viewer } from '../app/Viewer';
import { convDetails } from './details';
import { FakeSurface } from './surface';

/** Call once at the top of a test file. */
export function guardConsole(): void {
  // A busy machine must not fail the tests.
  vi.setConfig({ testTimeout: 60_000 });
  beforeEach(() => {
    FakeSurface.last = null;
    vi.spyOn(console, 'error');
  });
  afterEach(() => {
    cleanup();
    expect(vi.mocked(console.error).mock.calls).toEqual([]);
    vi.restoreAllMocks();
  });
}

export interface IMounted extends RenderResult {
  readonly handle: IViewerHandle;
  readonly root: HTMLElement;
}

/** Saved before tests replace it. */
const realSetTimeout = globalThis.setTimeout;

/** Waits for pending promises, the event loop turns of a layout, and their renders. */
export async function flushUpdates(): Promise<void> {
  await act(async () => {
    for (let attempt = 0; attempt < 4; attempt++) {
      await new Promise(resolve => realSetTimeout(resolve));
      for (let i = 0; i < 40; i++) {
        await Promise.resolve();
      }
    }
  });
}

/**
 * The same, until the graph is drawn: what is rendered at the end of one turn is laid out in the next.
 */
export async function settleDrawn(container: HTMLElement): Promise<void> {
  await flushUpdates();
  const isWaiting = (): boolean =>
    container.querySelector('.oad-GraphHost:not([data-scene-version])') !==
    null;
  for (let attempt = 0; attempt < 50 && isWaiting(); attempt++) {
    await flushUpdates();
  }
}

export async function mountProvider(
  provider: IReportProvider,
  props: Partial<IViewerProps> = {}
): Promise<IMounted> {
  await loadAll();
  let handle: IViewerHandle | null = null;
  const result = render(
    <Viewer
      provider={provider}
      {...props}
      onReady={viewer => {
        handle = viewer;
      }}
    />
  );
  await settleDrawn(result.container);
  const root = result.container.querySelector<HTMLElement>('.oad-Viewer');
  if (handle === null || root === null) {
    throw new Error('The viewer did not start.');
  }
  return { ...result, handle, root };
}

export async function mount(
  payload: GraphPayload,
  options: IMemoryProviderOptions = {},
  props: Partial<IViewerProps> = {}
): Promise<IMounted & { provider: MemoryProvider }> {
  const provider = new MemoryProvider(payload, {
    details: { 0: convDetails(0) },
    ...options
  });
  const mounted = await mountProvider(provider, props);
  return { ...mounted, provider };
}
