// @vitest-environment jsdom
import { act, fireEvent, screen, within } from '@testing-library/react';
import { describe, expect, test, vi } from 'vitest';
import { formatCount } from '../../../core';
import fixture from '../../../core/testing/rebind.json';
import type { ILoadOptions } from '../../../providers/provider';
import type { GraphPayload } from '../../../schema';
import { withHardware } from '../../testing/hardware';
import { SYMBOL, testPayload } from '../../testing/payload';
import { guardConsole, mount, flushUpdates } from '../../testing/render';

vi.mock('../../graph/surface', async () => ({
  GraphSurface: (await import('../../testing/surface')).FakeSurface
}));
vi.mock(
  '../../graph/cards/cardSizer',
  async () => await import('../../testing/sizer')
);

guardConsole();

const fixed = fixture.fixed.payload as unknown as GraphPayload;
const plainSpaces = (text: string | null | undefined): string =>
  (text ?? '').replace(/\u00a0/g, ' ');

async function open(): Promise<void> {
  fireEvent.click(screen.getByRole('tab', { name: 'Sweep' }));
  await flushUpdates();
}

/** Waits for the points, which arrive one per event loop turn. */
async function points(): Promise<void> {
  for (let attempt = 0; attempt < 40; attempt++) {
    await act(async () => new Promise(resolve => setTimeout(resolve, 2)));
  }
}

async function setSizes(text: string): Promise<void> {
  const box = screen.getByRole('textbox', { name: 'Values' });
  fireEvent.change(box, { target: { value: text } });
  await points();
}

const chart = (name: string): HTMLElement =>
  screen.getByRole('slider', { name });
/** Descriptions of a chart's points, one by one. */
function valueTexts(name: string, count: number): string[] {
  const texts: string[] = [];
  for (let index = 0; index < count; index++) {
    fireEvent.keyDown(chart(name), {
      key: index === 0 ? 'Home' : 'ArrowRight'
    });
    texts.push(plainSpaces(chart(name).getAttribute('aria-valuetext')));
  }
  return texts;
}

describe('sweep curves', () => {
  test('have the numbers of analyses at those batch sizes; a click sets one', async () => {
    const { provider } = await mount(fixed);
    await open();
    const cases = fixture.fixed.cases;
    const sizes = cases.map(({ batch }) => batch).sort((a, b) => a - b);
    await setSizes(sizes.join(', '));
    const texts = valueTexts('MACs', sizes.length);
    for (const { batch, metrics } of cases) {
      expect(texts[sizes.indexOf(batch)]).toContain(
        `batch ${batch}: ${plainSpaces(formatCount(metrics.total_macs, 'MACs'))}`
      );
    }
    // Without a device there are no times, and the panel says how to get them.
    expect(screen.queryByRole('slider', { name: 'Latency' })).toBeNull();
    expect(screen.getByText(/Choose a device/)).toBeTruthy();
    fireEvent.keyDown(chart('MACs'), { key: 'End' });
    fireEvent.keyDown(chart('MACs'), { key: 'Enter' });
    await flushUpdates();
    const last = cases.find(({ batch }) => batch === sizes.at(-1))!;
    const tile = screen.getByTitle(/^MACs: /);
    expect(tile.textContent).toContain(formatCount(last.metrics.total_macs));
    expect(provider.loads).toHaveLength(1);
  });

  test('reject invalid sizes', async () => {
    await mount(fixed);
    await open();
    await setSizes('1, x');
    expect(screen.getByText(/Write up to 64 whole numbers/)).toBeTruthy();
    expect(
      screen
        .getByRole('textbox', { name: 'Values' })
        .getAttribute('aria-invalid')
    ).toBe('true');
  });

  test('explain why fixed dimensions have none', async () => {
    const reason = 'MatMul m: items would meet';
    await mount(
      { ...fixed, batch: null },
      { batch: () => Promise.resolve({ offer: null, reason }) }
    );
    await open();
    expect(screen.getByText(/nothing to vary/)).toBeTruthy();
    expect(screen.getByText(/items would meet/)).toBeTruthy();
  });
});

/** As from a server: MACs grow with the batch, and one batch is rejected. */
function analysed({ bindings }: Pick<ILoadOptions, 'bindings'>): GraphPayload {
  const value = bindings.batch ?? SYMBOL.suggested;
  const payload = testPayload({ dims: [{ ...SYMBOL, value }] });
  payload.metrics.total_macs = 1_000_000 * value;
  return withHardware(payload, 'acme-two');
}

describe('sweep by analysis', () => {
  test('requests one size after the other; a failed size does not affect others', async () => {
    const requested: number[] = [];
    const { provider } = await mount(analysed({ bindings: {} }), {
      reload: analysed,
      sized: bindings => {
        requested.push(bindings.batch);
        return bindings.batch === 4
          ? Promise.reject(new Error('batch 4 does not fit'))
          : Promise.resolve(analysed({ bindings }));
      }
    });
    await open();
    await setSizes('1, 2, 4, 8');
    expect(requested).toEqual([]);
    fireEvent.click(screen.getByRole('button', { name: 'Analyse 4 sizes' }));
    await points();
    expect(requested).toEqual([1, 2, 4, 8]);
    const texts = valueTexts('MACs', 4);
    expect(texts[0]).toContain('1.0 M MACs');
    expect(texts[2]).toBe('batch 4: batch 4 does not fit');
    expect(texts[3]).toContain('8.0 M MACs');
    // A kernel has no time, so the time is a lower bound without a range.
    expect(texts[3]).toMatch(/batch 8: ≥ 200 µs, ≤ /);
    expect(provider.loads).toHaveLength(1);
    fireEvent.keyDown(chart('Latency'), { key: 'Home' });
    fireEvent.keyDown(chart('Latency'), { key: 'Enter' });
    await flushUpdates();
    expect(provider.loads.at(-1)).toEqual({
      bindings: { batch: 1 },
      assume: true
    });
  });

  test('shows that it needs a server or kernel', async () => {
    await mount(analysed({ bindings: {} }), { reload: analysed });
    await open();
    expect(
      screen.getByText(/Other values of the dimensions need an analysis/)
    ).toBeTruthy();
  });

  test('asks for missing dimensions first', async () => {
    await mount(testPayload({ dims: [{ ...SYMBOL, value: null }] }));
    await open();
    const panel = screen.getByRole('tabpanel');
    fireEvent.click(
      within(panel).getByRole('button', { name: 'Open Dimensions' })
    );
    await flushUpdates();
    expect(screen.getByRole('textbox', { name: 'batch' })).toBeTruthy();
  });
});
