// @vitest-environment jsdom
import { fireEvent, screen } from '@testing-library/react';
import { describe, expect, test, vi } from 'vitest';
import { readView, writeView } from './state/link';
import { readSnapshot } from './state/snapshot';
import { guardConsole, mount, settle } from './testing/render';
import { surface } from './testing/surface';
import { testPayload } from './testing/payload';

vi.mock('./graph/surface', async () => ({
  GraphSurface: (await import('./testing/surface')).FakeSurface
}));
vi.mock('./graph/measure', async () => await import('./testing/sizer'));

guardConsole();

const direction = () => surface().scene?.direction;

async function press(root: HTMLElement, key: string): Promise<void> {
  fireEvent.keyDown(root, { key, code: '' });
  await settle();
}

describe('direction of the picture', () => {
  test('K and the toolbar turn it', async () => {
    const { root } = await mount(testPayload());
    expect(direction()).toBe('right');
    await press(root, 'k');
    expect(direction()).toBe('down');
    fireEvent.click(screen.getByRole('button', { name: /top to bottom/ }));
    await settle();
    expect(direction()).toBe('right');
  });

  test('a setting decides how a model opens', async () => {
    await mount(testPayload(), {}, { settings: { direction: 'down' } });
    expect(direction()).toBe('down');
  });

  test('is remembered, and a link brings it along', async () => {
    const { root, handle } = await mount(testPayload());
    await press(root, 'k');
    const state = readSnapshot(handle.getState());
    expect(state.direction).toBe('down');
    const { text } = await writeView(state);
    expect((await readView(`#${text}`))?.direction).toBe('down');
    await press(root, 'k');
    handle.setState(state);
    await settle();
    expect(direction()).toBe('down');
  });

  test('Back and stored views turn it back', async () => {
    const { root } = await mount(testPayload());
    fireEvent.keyDown(root, { key: '1', code: 'Digit1', ctrlKey: true });
    await press(root, 'k');
    expect(direction()).toBe('down');
    fireEvent.keyDown(root, { key: '1', code: 'Digit1' });
    await settle();
    expect(direction()).toBe('right');
    await press(root, 'Backspace');
    expect(direction()).toBe('down');
  });

  test('nonsense in a snapshot is ignored', () => {
    expect(
      readSnapshot({ version: 1, direction: 'sideways' }).direction
    ).toBeUndefined();
  });
});
