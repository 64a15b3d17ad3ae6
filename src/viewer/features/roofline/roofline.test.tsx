// @vitest-environment jsdom
import { act, fireEvent, screen } from '@testing-library/react';
import { describe, expect, test, vi } from 'vitest';
import { sessionOf } from '../../host/viewerHandle';
import type { IViewerHandle } from '../../state/api';
import type { IViewerState } from '../../state/types';
import { withHardware } from '../../testing/hardware';
import { testPayload } from '../../testing/payload';
import { guardConsole, mount, flushUpdates } from '../../testing/render';

vi.mock('../../graph/surface', async () => ({
  GraphSurface: (await import('../../testing/surface')).FakeSurface
}));
vi.mock(
  '../../graph/cards/cardSizer',
  async () => await import('../../testing/sizer')
);

guardConsole();

async function open(): Promise<void> {
  fireEvent.click(screen.getByRole('tab', { name: 'Roofline' }));
  await flushUpdates();
}

const state = (handle: IViewerHandle): IViewerState =>
  sessionOf(handle)!.store.get();

const chart = (): HTMLElement =>
  screen.getByRole('slider', { name: 'Roofline' });
const valueText = (): string =>
  (chart().getAttribute('aria-valuetext') ?? '').replace(/\u00a0/g, ' ');

describe('roofline', () => {
  test('moves along the kernels with keys, marks and selects their nodes', async () => {
    const payload = withHardware(testPayload(), 'acme-two', 'fp32');
    const { handle } = await mount(payload);
    await open();
    const { anchor, kind } = payload.hardware!.kernels;
    const count = kind.filter(value => value >= 0).length;
    expect(valueText()).toContain(`${count} kernels, slowest first`);
    fireEvent.keyDown(chart(), { key: 'Home' });
    await flushUpdates();
    expect(valueText()).toContain('bound by kernel starts');
    expect(valueText()).toMatch(/FLOPs per byte/);
    // The slowest kernel, with all its nodes.
    const { externalHighlight } = state(handle);
    const kernel = payload.hardware!.kernels.node[externalHighlight[0]];
    expect(externalHighlight).toEqual(
      payload.hardware!.kernels.node.flatMap((kernelNode, node) =>
        kernelNode === kernel ? [node] : []
      )
    );
    fireEvent.keyDown(chart(), { key: 'Enter' });
    await flushUpdates();
    expect(state(handle).selection).toEqual({
      kind: 'node',
      id: anchor[kernel]
    });
  });

  test('follows the selection', async () => {
    const payload = withHardware(testPayload(), 'acme-two', 'fp32');
    const { handle } = await mount(payload);
    await open();
    const { node } = payload.hardware!.kernels;
    // The second node of a kernel also stands for the point.
    const second = node.lastIndexOf(1);
    act(() => handle.selectNodes([second]));
    await flushUpdates();
    expect(document.querySelector('.oad-Roofline-note')?.textContent).toMatch(
      /FLOPs per byte/
    );
  });

  test('asks for a device if none is chosen', async () => {
    const { handle } = await mount(withHardware(testPayload()));
    await open();
    expect(screen.queryByRole('slider', { name: 'Roofline' })).toBeNull();
    fireEvent.click(screen.getByRole('button', { name: 'Choose a device…' }));
    expect(state(handle).deviceChooserOpen).toBe(true);
  });
});
