// @vitest-environment jsdom
import { fireEvent, screen, within } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { guardConsole, mount, flushUpdates } from '../../testing/render';
import { surface } from '../../testing/surface';
import { testPayload } from '../../testing/payload';
import { orderBySeverity } from './DiagnosticsPanel';

vi.mock('../../graph/surface', async () => ({
  GraphSurface: (await import('../../testing/surface')).FakeSurface
}));
vi.mock(
  '../../graph/cards/cardSizer',
  async () => await import('../../testing/sizer')
);

guardConsole();

test('the most severe come first, otherwise in their order', () => {
  const make = (severity: string, code: string) => ({
    severity,
    code,
    message: '',
    where: '',
    node: null
  });
  const diagnostics = [
    make('info', 'a'),
    make('odd', 'b'),
    make('error', 'c'),
    make('warning', 'd'),
    make('error', 'e')
  ];
  expect(
    orderBySeverity(diagnostics, '')
      .map(item => item.code)
      .join('')
  ).toBe('ceda' + 'b');
  expect(orderBySeverity(diagnostics, 'error').map(item => item.code)).toEqual([
    'c',
    'e'
  ]);
});

test('the tab counts them; a filter limits them; a click shows the node', async () => {
  await mount(testPayload());
  const tab = screen.getByRole('tab', { name: /Diagnostics/ });
  expect(tab.textContent).toBe('Diagnostics2');
  fireEvent.click(tab);
  const list = screen.getByRole('list', { name: 'Diagnostics' });
  expect(within(list).getAllByRole('listitem')).toHaveLength(2);
  fireEvent.click(screen.getByRole('button', { name: 'Warning 1' }));
  const [row] = within(list).getAllByRole('listitem');
  expect(within(list).getAllByRole('listitem')).toHaveLength(1);
  expect(row.textContent).toContain('Warning');
  expect(row.textContent).toContain('unknown-op');
  fireEvent.click(within(row).getByRole('button', { name: /Show/ }));
  await flushUpdates();
  expect(surface().selection).toEqual([4]);
  expect(surface().zoomed).toContain(4);
});

test('an empty list shows that no problems were found', async () => {
  await mount(testPayload({ diagnostics: [] }));
  fireEvent.click(screen.getByRole('tab', { name: 'Diagnostics' }));
  expect(screen.getByText(/no problems found/)).toBeTruthy();
});
