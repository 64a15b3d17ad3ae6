// @vitest-environment jsdom
import { act, fireEvent, screen, within } from '@testing-library/react';
import { describe, expect, test, vi } from 'vitest';
import { MemoryProvider } from '../../../providers/memoryProvider';
import { localProblem, ProblemError } from '../../../providers/provider';
import type { WeightValues } from '../../../schema';
import {
  guardConsole,
  mount,
  mountProvider,
  flushUpdates,
  type IMounted
} from '../../testing/render';
import { testPayload } from '../../testing/payload';
import { weightValues } from '../../testing/weights';
import { surface } from '../../testing/surface';

vi.mock('../../graph/surface', async () => ({
  GraphSurface: (await import('../../testing/surface')).FakeSurface
}));
vi.mock(
  '../../graph/cards/cardSizer',
  async () => await import('../../testing/sizer')
);

guardConsole();

const inspector = (): HTMLElement =>
  screen.getByRole('complementary', { name: 'Inspector' });

async function press(name: RegExp | string): Promise<void> {
  fireEvent.click(within(inspector()).getByRole('button', { name }));
  await flushUpdates();
}

/** Selects the weight of the first Conv. */
async function selectWeight(): Promise<void> {
  act(() =>
    surface().callbacks.onSelectTensor?.(
      { kind: 'tensor', id: 1 },
      { activated: false }
    )
  );
  await flushUpdates();
}

async function mountValues(
  change: Partial<WeightValues> = {}
): Promise<IMounted> {
  const mounted = await mount(testPayload(), {
    weights: { 1: weightValues(1, change) }
  });
  await selectWeight();
  await press(/Show values of/);
  return mounted;
}

function factText(label: string): string {
  const term = within(inspector())
    .getAllByText(label)
    .find(element => element.tagName === 'DT');
  return term?.nextElementSibling?.textContent ?? '';
}

describe('values of a weight', () => {
  test('are read on request and shown with their index', async () => {
    await mountValues();
    expect(factText('Range')).toBe('-1.25 to 2');
    expect(factText('Mean')).toBe('0.208333');
    expect(factText('Median')).toBe('0');
    expect(factText('Middle 98 %')).toBe('-1.25 to 2');
    expect(factText('Zeros')).toBe('1 (16.7 %)');
    expect(factText('Distinct')).toBe('6');
    expect(factText('Stored in')).toBe('the model file, from byte 1,234');
    const rows = within(inspector()).getAllByRole('row');
    expect(rows.map(row => row.textContent)).toEqual([
      '[0, 0]-1.25-0.50',
      '[1, 0]0.012512'
    ]);
    await press(/Hide values of/);
    expect(within(inspector()).queryByRole('table')).toBeNull();
  });

  test('have a histogram with keyboard access and a log scale if useful', async () => {
    await mountValues();
    const chart = within(inspector()).getByRole('slider');
    expect(chart.getAttribute('aria-valuetext')).toContain('3 bars');
    fireEvent.keyDown(chart, { key: 'ArrowRight' });
    expect(chart.getAttribute('aria-valuetext')).toBe(
      '-1.25 to 0: 2 values (0.7 %)'
    );
    fireEvent.keyDown(chart, { key: 'End' });
    expect(chart.getAttribute('aria-valuetext')).toContain('1 to 2: 3 values');
    const heights = (): number[] =>
      [...chart.querySelectorAll('.oad-WeightPlot-bar')].map(bar =>
        Number(bar.getAttribute('height'))
      );
    const before = heights();
    await press('Log');
    expect(heights()[0]).toBeGreaterThan(10 * before[0]);
    expect(heights()[1]).toBe(100);
  });

  test('include the number of NaN and infinite values', async () => {
    await mountValues({
      nan: 3,
      inf: 1,
      min: null,
      max: null,
      histogram: null
    });
    expect(inspector().textContent).toContain('NaN values: 3');
    expect(within(inspector()).queryByRole('slider')).toBeNull();
  });

  test('can be sparse, boolean, text and very large', async () => {
    const mounted = await mountValues({
      sparse: true,
      stored: 2,
      elements: 6,
      values: [5, 7],
      indices: [1, 5]
    });
    expect(factText('Stored')).toContain('2 of 6 elements');
    expect(
      within(inspector())
        .getAllByRole('row')
        .map(row => row.textContent)
    ).toEqual(['[0, 1]5', '[1, 2]7']);
    mounted.unmount();
    const second = await mountValues({
      elem_type: 'bool',
      values: [true, false],
      histogram: { edges: [0, 1, 2], counts: [4, 2], whole: true }
    });
    fireEvent.keyDown(within(inspector()).getByRole('slider'), { key: 'Home' });
    expect(
      within(inspector()).getByRole('slider').getAttribute('aria-valuetext')
    ).toContain('false: 4 values');
    expect(factText('False')).toBe('1 (16.7 %)');
    second.unmount();
    const third = await mountValues({
      elem_type: 'string',
      zeros: null,
      min: null,
      max: null,
      histogram: null,
      quantiles: null,
      values: ['<img onerror=alert(1)>'],
      stored: 6
    });
    expect(inspector().textContent).toContain('"<img onerror=alert(1)>"');
    expect(inspector().textContent).toContain('4 KiB');
    expect(inspector().querySelector('img')).toBeNull();
    third.unmount();
    await mountValues({
      elem_type: 'int64',
      max: '9223372036854775807',
      quantiles: null,
      distinct: null
    });
    expect(factText('Range')).toContain('9,223,372,036,854,775,807');
    expect(factText('Median')).toContain('not computed');
    expect(factText('Distinct')).toBe('more than 1,024');
  });
});

test('a failure is shown with a hint and can be retried', async () => {
  const provider = new MemoryProvider(testPayload());
  let isAvailable = false;
  const read = vi.fn(() =>
    isAvailable
      ? Promise.resolve(weightValues(1))
      : Promise.reject(
          new ProblemError(
            localProblem('external-missing', '', 'Not there.', 'Put it.')
          )
        )
  );
  Object.assign(provider, { weights: read });
  await mountProvider(provider);
  await selectWeight();
  await press(/Show values of/);
  expect(within(inspector()).getByRole('alert').textContent).toContain(
    'Not there.Put it.'
  );
  isAvailable = true;
  await press('Retry');
  expect(factText('Range')).toBe('-1.25 to 2');
  // Cached by now: not read again.
  await press(/Hide values of/);
  await press(/Show values of/);
  expect(read).toHaveBeenCalledTimes(2);
});

test('a long read can be cancelled, and is aborted by another selection', async () => {
  const signals: AbortSignal[] = [];
  const provider = new MemoryProvider(testPayload());
  Object.assign(provider, {
    weights: (_tensor: number, signal: AbortSignal) => {
      signals.push(signal);
      return new Promise(() => undefined);
    }
  });
  await mountProvider(provider);
  await selectWeight();
  await press(/Show values of/);
  expect(inspector().textContent).toContain('Reading 256 B…');
  await press('Cancel');
  expect(signals[0].aborted).toBe(true);
  await press(/Show values of/);
  act(() => surface().callbacks.onSelect?.(2, { additive: false }));
  await flushUpdates();
  expect(signals[1].aborted).toBe(true);
});

test('a hint is shown if values cannot be read', async () => {
  await mount(testPayload());
  await selectWeight();
  expect(inspector().textContent).toContain('py_autodoc.read_weights');
  expect(inspector().textContent).toContain('py_autodoc.read_array');
  expect(screen.queryByRole('button', { name: /Show values/ })).toBeNull();
});

test('constants of a node have the button', async () => {
  await mount(testPayload(), { weights: { 1: weightValues(1) } });
  act(() => surface().callbacks.onSelect?.(0, { additive: false }));
  await flushUpdates();
  await press(/Show values of/);
  expect(factText('Range')).toBe('-1.25 to 2');
});
