// @vitest-environment jsdom
import { fireEvent, screen, within } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import type { AttentionGroup, GraphPayload } from '../../../../schema';
import { testPayload } from '../../../testing/payload';
import { guardConsole, mount, flushUpdates } from '../../../testing/render';
import { surface } from '../../../testing/surface';

vi.mock('../../../graph/surface', async () => ({
  GraphSurface: (await import('../../../testing/surface')).FakeSurface
}));
vi.mock(
  '../../../graph/cards/cardSizer',
  async () => await import('../../../testing/sizer')
);

guardConsole();

const GROUP: AttentionGroup = {
  count: 2,
  kind: 'self',
  causal: true,
  num_heads: 8,
  num_kv_heads: 2,
  head_dim: 64,
  value_dim: 64,
  hidden_size: 512,
  mechanism: 'GQA',
  queries: 'seq',
  keys: 'total',
  mask: true,
  rotary: true,
  relative_bias: false,
  cached: true,
  fused: false,
  max_sequence_length: null,
  max_sequence_length_reason: 'no table',
  attention_window: 16,
  nodes: [0, 2]
};

function decoder(): GraphPayload {
  const payload = testPayload();
  payload.architecture = {
    family: 'transformer-decoder',
    confidence: 0.9,
    evidence: ['2 self-attention layers, all causal'],
    quantization: {
      quantized: true,
      schemes: { dynamic: 3 },
      weights: ['int8'],
      activations: ['uint8'],
      layers: 3,
      layers_total: 4,
      macs_share: 0.5,
      not_quantized: [1]
    }
  };
  payload.metrics.attention = {
    num_layers: 2,
    self_layers: 2,
    cross_layers: 0,
    causal_layers: 1,
    unknown_causal_layers: 1,
    num_heads: 8,
    num_kv_heads: null,
    head_dim: 64,
    hidden_size: 512,
    mechanism: 'GQA',
    max_sequence_length: null,
    max_sequence_length_reason: 'no table',
    attention_window: 16,
    window_layers: 1,
    groups: [GROUP],
    kv_cache_bytes_per_token: null
  };
  payload.memory.kv_cache = {
    source: 'estimated',
    confidence: 0.6,
    num_layers: 2,
    kv_heads: 2,
    head_dim: 64,
    value_dim: 64,
    elem_type: 'float16',
    sequence_axis: null,
    bytes_per_token: 1024,
    context_length: null,
    context_bytes: null,
    reason: '',
    context_reason: 'the longest sequence is unknown',
    layers: []
  };
  payload.repeats = {
    ...payload.repeats,
    count: [12],
    size: [30],
    name: ['Layer']
  };
  return payload;
}

/** Terms and values, in order. */
function factsByLabel(root: HTMLElement): Map<string, string> {
  return new Map(
    [...root.querySelectorAll('dt')].map(term => [
      term.textContent ?? '',
      term.nextElementSibling?.textContent ?? ''
    ])
  );
}

async function inspector(payload: GraphPayload): Promise<HTMLElement> {
  await mount(payload);
  return screen.getByRole('complementary', { name: 'Inspector' });
}

test('shows verdict, attention, cache and repeats, and the reasons for unknown facts', async () => {
  const panel = await inspector(decoder());
  const shownFacts = factsByLabel(panel);
  expect(shownFacts.get('Kind')).toBe('Transformer decoder');
  expect(panel.textContent).toContain('2 self-attention layers, all causal');
  expect(shownFacts.get('Causal layers')).toBe('1, unknown for 1');
  expect(shownFacts.get('Key/value heads')).toBe('—');
  expect(shownFacts.get('Longest sequence')).toBe('—no table');
  expect(shownFacts.get('Attention window')).toBe(
    '16Keys that a query sees at most, in 1 of 2 layers'
  );
  expect(shownFacts.get('Per token')).toContain('1.02');
  expect(shownFacts.get('Full context')).toBe(
    '—the longest sequence is unknown'
  );
  expect(shownFacts.get('Source')).toMatch(/^estimated .* 60.%$/);
  expect(panel.textContent).toContain('Layer ×12 30 nodes each');
  fireEvent.click(
    within(panel).getByRole('button', {
      name: 'Show 2 × self-attention, causal, rotary, cached'
    })
  );
  await flushUpdates();
  expect(surface().selection).toEqual([0, 2]);
});

test('shows the quantization and the layers without it', async () => {
  const panel = await inspector(decoder());
  expect(factsByLabel(panel).get('Quantization')).toMatch(
    /^int8 weights, uint8 activations \(dynamic\), 3 of 4 layers, 50.*% of the MACs$/
  );
  fireEvent.click(within(panel).getByRole('button', { name: '1 layer' }));
  await flushUpdates();
  expect(surface().selection).toEqual([1]);
});

test('shows that a model is not quantized', async () => {
  const payload = decoder();
  payload.architecture!.quantization = {
    quantized: false,
    schemes: {},
    weights: [],
    activations: [],
    layers: 0,
    layers_total: null,
    macs_share: null,
    not_quantized: []
  };
  expect(factsByLabel(await inspector(payload)).get('Quantization')).toBe(
    'None'
  );
});

test('shows an unrecognised architecture without a confidence', async () => {
  const payload = testPayload();
  payload.architecture = {
    family: 'unknown',
    confidence: 0,
    evidence: [],
    quantization: null
  };
  const shownFacts = factsByLabel(await inspector(payload));
  expect(shownFacts.get('Kind')).toBe('Not recognised');
  expect(shownFacts.has('Confidence')).toBe(false);
});
