// @vitest-environment jsdom
// Colours follow what is chosen also when it is chosen together with other numbers of the model.
import { act, fireEvent, screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { withHardware } from '../testing/hardware';
import { guardConsole, mount } from '../testing/render';
import { testPayload } from '../testing/payload';
import { surface } from '../testing/surface';

vi.mock('../graph/surface', async () => ({
  GraphSurface: (await import('../testing/surface')).FakeSurface
}));
vi.mock(
  '../graph/cards/cardSizer',
  async () => await import('../testing/sizer')
);

guardConsole();

test('latency is not painted without a device', async () => {
  const { handle } = await mount(withHardware(testPayload(), 'acme-two'));
  act(() => handle.setOverlay('latency'));
  expect(surface().overlay?.text?.(0)).toContain('s');
  await act(async () => fireEvent.click(screen.getAllByText(/^Acme Two/)[0]));
  const none = screen.getByRole('button', { name: 'None' });
  await act(async () => fireEvent.click(none));
  expect(handle.getState()).toMatchObject({ device: null, overlay: null });
  expect(surface().overlay).toBeNull();
});
