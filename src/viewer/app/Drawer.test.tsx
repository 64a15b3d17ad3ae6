// @vitest-environment jsdom
import { fireEvent, screen, within } from '@testing-library/react';
import { describe, expect, test, vi } from 'vitest';
import { timelineOf } from '../../core/testing/timeline';
import type { GraphPayload, RiskSignal } from '../../schema';
import { testPayload } from '../testing/payload';
import { guardConsole, mount, flushUpdates } from '../testing/render';
import { surface } from '../testing/surface';

vi.mock('../graph/surface', async () => ({
  GraphSurface: (await import('../testing/surface')).FakeSurface
}));
vi.mock(
  '../graph/cards/cardSizer',
  async () => await import('../testing/sizer')
);

guardConsole();

function signal(change: Partial<RiskSignal>): RiskSignal {
  return {
    id: 'deep-chain',
    severity: 'medium',
    description: 'A chain without a shortcut.',
    nodes: [],
    evidence: {},
    recommendation: 'Add one.',
    ...change
  };
}

async function open(tab: RegExp, payload: GraphPayload): Promise<void> {
  await mount(payload);
  fireEvent.click(screen.getByRole('tab', { name: tab }));
  await flushUpdates();
}

describe('findings', () => {
  test('list the problem, its nodes and advice; the badge counts severe ones', async () => {
    const payload = testPayload();
    payload.risk_signals = [
      signal({ severity: 'high', nodes: [0, 2], description: 'Bad.' }),
      signal({}),
      signal({
        severity: 'info',
        nodes: [3, 99],
        evidence: { nodes_total: 400, table_bytes: 2000, share: 0.25 }
      })
    ];
    await open(/^Findings 2$/, payload);
    const list = screen.getByRole('list', { name: 'Findings' });
    const items = within(list).getAllByRole('listitem');
    expect(items).toHaveLength(3);
    expect(items[0].textContent).toContain('High');
    expect(items[0].textContent).toContain('Add one.');
    fireEvent.click(
      within(items[0]).getByRole('button', { name: 'Show all 2 nodes' })
    );
    await flushUpdates();
    expect(surface().selection).toEqual([0, 2]);
    fireEvent.click(within(items[2]).getByRole('button', { name: 'relu' }));
    await flushUpdates();
    expect(surface().selection).toEqual([3]);
    expect(items[2].textContent).toMatch(/share25\.0.%/);
    expect(items[2].textContent).toContain('table bytes');
    fireEvent.click(screen.getByRole('button', { name: 'Medium 1' }));
    expect(within(list).getAllByRole('listitem')).toHaveLength(1);
  });

  test('show that there are none', async () => {
    await open(/^Findings$/, testPayload());
    expect(screen.getByText(/No findings for/)).toBeTruthy();
  });
});

describe('memory', () => {
  test('keys move along the curve and the graph follows', async () => {
    const payload = testPayload();
    payload.timeline = timelineOf(payload);
    await open(/^Memory$/, payload);
    const curve = screen.getByRole('slider', { name: /Live bytes/ });
    expect(screen.getByText(/Step 3 of 5/)).toBeTruthy();
    fireEvent.focus(curve);
    fireEvent.keyDown(curve, { key: 'Home' });
    expect(surface().hits).toEqual([0]);
    expect(curve.getAttribute('aria-valuetext')).toMatch(
      /^Step 1 of 5, conv_0 · Conv: 64.B live, 128.B without buffer reuse$/
    );
    const inspector = screen.getByRole('complementary', {
      name: 'Live tensors at this step'
    });
    expect(inspector.textContent).toContain('made_0');
    fireEvent.keyDown(curve, { key: 'ArrowRight' });
    expect(surface().hits).toEqual([1]);
    fireEvent.keyDown(curve, { key: 'Enter' });
    await flushUpdates();
    expect(surface().selection).toEqual([1]);
    fireEvent.blur(curve);
    expect(surface().hits).toEqual([]);
  });

  test('a missing curve is explained', async () => {
    const payload = testPayload();
    payload.memory.reason = 'a body of unknown size';
    await open(/^Memory$/, payload);
    expect(
      screen.getByText('Memory over time is unknown: a body of unknown size.')
    ).toBeTruthy();
  });
});

describe('charts', () => {
  test('hovering an operator marks its nodes, a click selects them', async () => {
    await open(/^Charts$/, testPayload());
    const bars = screen.getByRole('list', { name: 'Operators' });
    const conv = within(bars).getByRole('button', { name: /Conv/ });
    fireEvent.focus(conv);
    expect(surface().hits).toEqual([0, 2]);
    fireEvent.keyDown(conv, { key: 'ArrowDown' });
    expect(document.activeElement?.textContent).toContain('Relu');
    fireEvent.click(conv);
    await flushUpdates();
    expect(surface().selection).toEqual([0, 2]);
  });

  test('an unknown sum is not shown as zero', async () => {
    await open(/^Charts$/, testPayload());
    fireEvent.change(
      screen.getByRole('combobox', { name: 'What the bars measure' }),
      { target: { value: 'macs' } }
    );
    const bars = screen.getByRole('list', { name: 'Operators' });
    expect(
      within(bars).getByRole('button', { name: /Mystery/ }).textContent
    ).toContain('—');
    expect(within(bars).queryByRole('button', { name: /Relu/ })).toBeNull();
  });

  test('charts highlight the same node', async () => {
    await open(/^Charts$/, testPayload());
    const depth = screen.getByRole('slider', { name: /Cumulative/ });
    const shapes = screen.getByRole('slider', { name: /Elements/ });
    fireEvent.keyDown(depth, { key: 'End' });
    fireEvent.keyDown(depth, { key: 'ArrowLeft' });
    expect(surface().hits).toEqual([3]);
    expect(shapes.getAttribute('aria-valuetext')).toContain('relu');
    expect(shapes.getAttribute('aria-valuetext')).toContain('2×8');
  });
});
