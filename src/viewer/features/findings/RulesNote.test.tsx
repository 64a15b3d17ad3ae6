// @vitest-environment jsdom
import { fireEvent, screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import type { RuleSettings } from '../../../schema';
import { guardConsole, mount, flushUpdates } from '../../testing/render';
import { testPayload } from '../../testing/payload';

vi.mock('../../graph/surface', async () => ({
  GraphSurface: (await import('../../testing/surface')).FakeSurface
}));
vi.mock(
  '../../graph/cards/cardSizer',
  async () => await import('../../testing/sizer')
);

guardConsole();

async function panel(rule_settings: RuleSettings | null): Promise<string> {
  await mount({ ...testPayload(), rule_settings });
  fireEvent.click(screen.getByRole('tab', { name: /Findings/ }));
  await flushUpdates();
  return screen.getByRole('tabpanel').textContent ?? '';
}

const NONE: RuleSettings = {
  source: '',
  floor: '',
  disabled: [],
  severities: {},
  thresholds: {},
  read_weights: false
};

test('default rules have no note', async () => {
  expect(await panel(null)).not.toContain('Rules');
});

test('changed settings are listed with their source', async () => {
  const text = await panel({
    ...NONE,
    source: 'rules.toml',
    floor: 'low',
    disabled: ['large-embedding'],
    severities: { 'deep-chain': 'info' },
    thresholds: { 'deep-chain': { min_layers: 40 } },
    read_weights: true
  });
  expect(text).toContain('Rules with 4 changes from rules.toml');
  expect(text).toContain('findings below low are not shown');
  expect(text).toContain('large-embedding is disabled');
  expect(text).toContain('deep-chain: severity set to info');
  expect(text).toContain('deep-chain.min_layers = 40');
  expect(text).toContain('every weight was read');
});

test('only weights were read', async () => {
  const text = await panel({ ...NONE, read_weights: true });
  expect(text).toContain('Default rules; weights were read');
});
