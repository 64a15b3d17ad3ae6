// @vitest-environment jsdom
import { fireEvent, render, screen, within } from '@testing-library/react';
import * as React from 'react';
import { expect, test, vi } from 'vitest';
import { ProblemError, localProblem } from '../../../providers/provider';
import { SYMBOL, testPayload } from '../../testing/payload';
import { guardConsole, mount, flushUpdates } from '../../testing/render';
import { testReport } from '../../testing/report';
import { ReportText } from './ReportText';

vi.mock('../../graph/surface', async () => ({
  GraphSurface: (await import('../../testing/surface')).FakeSurface
}));
vi.mock(
  '../../graph/cards/cardSizer',
  async () => await import('../../testing/sizer')
);

guardConsole();

async function open(): Promise<HTMLElement> {
  fireEvent.click(screen.getByRole('tab', { name: 'Report' }));
  await flushUpdates();
  return screen.getByRole('region', { name: 'Report' });
}

test('every text is in its element, in order, and shown as text', () => {
  const { container } = render(<ReportText document={testReport()} />);
  expect(container.textContent).toBe(
    [
      'model.onnxImage classificationParameters25.5 MMACs≥ 4.09 G',
      'SummaryIn short: 12.5 % of <b>conv\\u202e</b>Whyonetwo',
      'OperatorsAllOperatorNodesConv53… 1,234 more',
      'Inputs1 inputStem ×23 nodesStages in execution order'
    ].join('')
  );
  expect(container.querySelector('code')!.textContent).toBe(
    '<b>conv\\u202e</b>'
  );
  const table = screen.getByRole('table');
  const number = within(table).getByRole('columnheader', { name: 'Nodes' });
  expect(number.className).toBe('oad-Number');
  expect(within(table).getByRole('cell', { name: '53' }).className).toBe(
    'oad-Number'
  );
  expect(
    screen.getByRole('region', { name: 'Operators' }).dataset.section
  ).toBe('operators');
});

test('the report is requested when the tab opens; the contents link to its titles', async () => {
  const sections = vi.fn(async () => testReport());
  const print = vi.fn();
  await mount(testPayload(), { sections, print });
  expect(sections).not.toHaveBeenCalled();
  const page = await open();
  expect(sections).toHaveBeenCalledTimes(1);
  expect(within(page).getByText('Image classification')).toBeTruthy();
  const texts: string[] = [];
  Element.prototype.scrollIntoView = function (this: Element) {
    texts.push(this.textContent ?? '');
  };
  fireEvent.change(screen.getByRole('combobox', { name: 'Section' }), {
    target: { value: 'operators' }
  });
  expect(texts).toEqual(['Operators']);
  fireEvent.click(screen.getByRole('button', { name: 'Print' }));
  expect(print).toHaveBeenCalledTimes(1);
});

test('there is no button without printing, and no tab without a report', async () => {
  const { unmount } = await mount(testPayload(), {
    sections: async () => testReport()
  });
  await open();
  expect(screen.queryByRole('button', { name: 'Print' })).toBeNull();
  unmount();
  await mount(testPayload());
  expect(screen.queryByRole('tab', { name: 'Report' })).toBeNull();
});

test('a failure is shown and can be retried', async () => {
  const sections = vi
    .fn(async () => testReport())
    .mockRejectedValueOnce(
      new ProblemError(localProblem('gone', 'Gone', 'It is gone.', 'Reload.'))
    );
  await mount(testPayload(), { sections });
  fireEvent.click(screen.getByRole('tab', { name: 'Report' }));
  await flushUpdates();
  expect(screen.getByRole('alert').textContent).toContain('It is gone.');
  fireEvent.click(screen.getByRole('button', { name: 'Retry' }));
  await flushUpdates();
  expect(screen.getByRole('region', { name: 'Report' })).toBeTruthy();
});

test('a note is shown if its dimensions differ from the current ones', async () => {
  const payload = testPayload();
  payload.dims = [{ ...payload.dims[0], ...SYMBOL, value: 4 }];
  const [{ name }] = payload.dims;
  const { unmount } = await mount(payload, {
    sections: async () => testReport({ [name]: 4 })
  });
  await open();
  const reportNote = (): Element | null =>
    screen.queryByText(/uses the dimensions of the analysis/);
  expect(reportNote()).toBeNull();
  unmount();
  await mount(payload, { sections: async () => testReport({ [name]: 1 }) });
  await open();
  expect(reportNote()?.getAttribute('role')).toBe('note');
});
