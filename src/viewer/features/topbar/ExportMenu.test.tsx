// @vitest-environment jsdom
import { act, fireEvent, screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { exportPng, exportSvg } from '../../export/exports';
import { guardConsole, mount, flushUpdates } from '../../testing/render';
import { testPayload } from '../../testing/payload';

vi.mock('../../graph/surface', async () => ({
  GraphSurface: (await import('../../testing/surface')).FakeSurface
}));
vi.mock(
  '../../graph/cards/cardSizer',
  async () => await import('../../testing/sizer')
);
vi.mock('../../export/exports', () => ({
  exportSvg: vi.fn(),
  exportDot: vi.fn(),
  exportPng: vi.fn((session: { store: { set(change: object): void } }) =>
    session.store.set({ notice: 'Too large.' })
  )
}));

guardConsole();

const button = (): HTMLElement =>
  screen.getByRole('button', { name: 'Export' });
const item = (name: string): HTMLElement =>
  screen.getByRole('menuitem', { name });
const press = (key: string): void => {
  fireEvent.keyDown(document.activeElement!, { key });
};

test('opens with the focus inside, moves with arrow keys, closes on Escape', async () => {
  await mount(testPayload(), { file: vi.fn() });
  expect(screen.queryByRole('menu')).toBeNull();
  fireEvent.click(button());
  expect(button().getAttribute('aria-expanded')).toBe('true');
  const items = screen.getAllByRole('menuitem');
  expect(items).toHaveLength(10);
  expect(document.activeElement).toBe(items[0]);
  press('ArrowDown');
  expect(document.activeElement).toBe(items[1]);
  press('Home');
  press('ArrowUp');
  expect(document.activeElement).toBe(items[9]);
  press('Escape');
  expect(screen.queryByRole('menu')).toBeNull();
  expect(document.activeElement).toBe(button());
});

test('offers the selection only while there is one', async () => {
  const { handle } = await mount(testPayload());
  fireEvent.click(button());
  const name = 'Save the selection as SVG';
  expect(item(name).getAttribute('aria-disabled')).toBe('true');
  fireEvent.click(item(name));
  expect(exportSvg).not.toHaveBeenCalled();
  expect(handle.isEnabled('export-svg-selection')).toBe(false);
  act(() => handle.selectNodes([0]));
  await flushUpdates();
  expect(item(name).getAttribute('aria-disabled')).toBe('false');
  fireEvent.click(item(name));
  expect(vi.mocked(exportSvg).mock.calls[0][1]).toBe('selection');
  expect(screen.queryByRole('menu')).toBeNull();
});

test('explains why an image cannot be exported', async () => {
  const { handle } = await mount(testPayload());
  act(() => void handle.run('export-png-4'));
  expect(screen.getByRole('alert').textContent).toContain('Too large.');
  fireEvent.click(screen.getByRole('button', { name: 'Close' }));
  expect(screen.queryByRole('alert')).toBeNull();
});

test('exports PNG at any scale and ignores an invalid one', async () => {
  await mount(testPayload());
  fireEvent.click(button());
  const box = screen.getByRole('spinbutton', { name: 'PNG scale' });
  const save = screen.getByRole<HTMLButtonElement>('button', { name: 'Save' });
  fireEvent.change(box, { target: { value: '99' } });
  expect(save.disabled).toBe(true);
  fireEvent.change(box, { target: { value: '2.5' } });
  fireEvent.click(save);
  expect(vi.mocked(exportPng).mock.lastCall?.[1]).toBe(2.5);
  expect(screen.queryByRole('menu')).toBeNull();
});

test('offers files that a host writes only with a host', async () => {
  await mount(testPayload());
  fireEvent.click(button());
  expect(screen.queryAllByRole('menuitem')).toHaveLength(7);
  expect(screen.queryByRole('menuitem', { name: /HTML|Netron/ })).toBeNull();
});

test('exports images as shown, light or dark, and keeps the choice', async () => {
  await mount(testPayload());
  fireEvent.click(button());
  const name = 'Image colours';
  const themePicker = (): HTMLSelectElement =>
    screen.getByRole('combobox', { name });
  expect(themePicker().value).toBe('page');
  fireEvent.change(themePicker(), { target: { value: 'dark' } });
  fireEvent.keyDown(themePicker(), { key: 'Escape' });
  expect(screen.queryByRole('menu')).toBeNull();
  fireEvent.click(button());
  expect(themePicker().value).toBe('dark');
});
