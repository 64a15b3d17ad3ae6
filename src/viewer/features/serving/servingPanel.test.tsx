// @vitest-environment jsdom
import { act, fireEvent, screen, within } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import type { IServingChoice } from '../../../providers/provider';
import type { GraphPayload, ServingPlans, ServingPoint } from '../../../schema';
import { withHardware } from '../../testing/hardware';
import { testPayload } from '../../testing/payload';
import { guardConsole, mount, flushUpdates } from '../../testing/render';

vi.mock('../../graph/surface', async () => ({
  GraphSurface: (await import('../../testing/surface')).FakeSurface
}));
vi.mock(
  '../../graph/cards/cardSizer',
  async () => await import('../../testing/sizer')
);

guardConsole();

const GIB = 2 ** 30;
const plainSpaces = (text: string | null | undefined): string =>
  (text ?? '').replace(/\u00a0/g, ' ');

/** A step takes a millisecond per sequence plus 9 ms; memory grows with sequences and tokens. */
function point(batch: number, context: number): ServingPoint {
  const step = 9 + batch;
  const cache = batch * context * 2 ** 20;
  const fits = cache < 8 * GIB;
  return {
    batch,
    context,
    prefill_flops: null,
    prefill_ms: batch * context,
    prefill_low_ms: (batch * context) / 2,
    prefill_high_ms: batch * context * 2,
    prefill_method: 'formula',
    prefill_label: 'rough',
    prefill_tokens_per_s: 1000,
    decode_ms: step,
    decode_low_ms: step / 2,
    decode_high_ms: step * 2,
    decode_label: 'estimate',
    decode_bottleneck: 'memory_bandwidth',
    interconnect_share: 0,
    tokens_per_s: (batch / step) * 1000,
    tokens_per_s_per_request: 1000 / step,
    request_ms: 255 * step,
    tokens_per_s_with_prompts: 4321,
    kv_cache_bytes: cache,
    activation_bytes: 0,
    memory_bytes_per_device: cache + GIB,
    fits,
    usd_per_million_input_tokens: null,
    usd_per_million_output_tokens: null,
    reason: ''
  };
}

function plansOf({ device, precision }: IServingChoice): ServingPlans {
  const points = [1, 11].flatMap(batch =>
    [256, 4096].map(context => point(batch, context))
  );
  return {
    schema: 'autodoc.llm/1.0',
    generator: { name: 'onnx-autodoc', version: '0' },
    model: 'm.onnx',
    decoder: {
      source: 'model',
      layers: 2,
      hidden_size: 64,
      kv_heads: 2,
      parameters: 1,
      active_parameters: 1,
      max_context: 4096,
      window: null,
      window_layers: 0,
      quantization: null,
      cache: 'inputs'
    },
    input_tokens: 1024,
    output_tokens: 256,
    prefill_chunk: 2048,
    runtime: 'tensorrt',
    assumptions: ['tokens spread evenly'],
    plans: [
      {
        hardware: device,
        device_name: `Device ${device}`,
        precision: precision || 'fp32',
        tensor_parallel: 1,
        pipeline_parallel: 1,
        devices: 1,
        link: null,
        available_bytes: 8 * GIB,
        weight_bytes: GIB,
        weight_bytes_per_device: GIB,
        kv_cache_bytes_per_token: 2 ** 20,
        kv_cache_bytes_per_token_per_device: 2 ** 20,
        compute_bound: [
          { batch: 296, context: 256, limited_by: 'compute', reason: '' },
          {
            batch: null,
            context: 4096,
            limited_by: 'memory_bandwidth',
            reason: 'no batch is bound by arithmetic'
          }
        ],
        instance: null,
        instance_devices: null,
        price_usd_per_hour: null,
        price_date: null,
        region: null,
        points,
        service: {
          input_tokens: 1024,
          output_tokens: 256,
          first_token_goal_ms: null,
          tokens_per_s_goal: null,
          users: null,
          users_per_replica: 34,
          users_per_replica_low: 34,
          users_per_replica_high: 34,
          users_per_device: 34,
          limited_by: 'memory',
          load: 34,
          first_token_ms: 100,
          first_token_worst_ms: 900,
          request_ms: 1000,
          tokens_per_s_per_user: 20,
          tokens_per_s: 500,
          requests_per_s: 2,
          prompt_share: 0.3,
          replicas: null,
          devices: null,
          usd_per_hour: null,
          usd_per_million_output_tokens: null,
          reason: ''
        },
        longest_context: [
          { batch: 1, context: 4096, limited_by: 'model', reason: '' },
          { batch: 11, context: 744, limited_by: 'memory', reason: '' }
        ],
        largest_batch: [
          { batch: 65536, context: 256, limited_by: 'search', reason: '' },
          { batch: 0, context: 4096, limited_by: 'memory', reason: '' }
        ],
        warnings: ['Where it does not fit, the times are others.'],
        reason: ''
      }
    ]
  };
}

/** A decoder: it has a key-value cache. */
function decoder(device = ''): GraphPayload {
  const payload = withHardware(testPayload(), device);
  payload.memory.kv_cache = {
    source: 'inputs',
    confidence: 1,
    num_layers: 2,
    kv_heads: 2,
    head_dim: 64,
    value_dim: 64,
    elem_type: 'float16',
    sequence_axis: 2,
    bytes_per_token: 1024,
    context_length: null,
    context_bytes: null,
    reason: '',
    context_reason: '',
    layers: []
  };
  return payload;
}

async function open(): Promise<void> {
  fireEvent.click(screen.getByRole('tab', { name: 'Serving' }));
  await flushUpdates();
  await act(async () => new Promise(resolve => setTimeout(resolve, 5)));
}

/** Description of a position in a chart. */
function valueText(name: string, key: 'Home' | 'End'): string {
  const chart = screen.getByRole('slider', { name });
  fireEvent.keyDown(chart, { key });
  return plainSpaces(chart.getAttribute('aria-valuetext'));
}

const ALL = 'Decode: tokens/s, all sequences';

test('prefill and decode are shown by batch and context, with the memory that fits', async () => {
  const choices: IServingChoice[] = [];
  await mount(decoder('acme-two'), {
    serving: choice => {
      choices.push(choice);
      return Promise.resolve(plansOf(choice));
    }
  });
  await open();
  expect(choices).toEqual([
    { device: 'acme-two', precision: '', runtime: undefined }
  ]);
  expect(valueText(ALL, 'Home')).toBe(
    'batch 1: 100 (50–200) with context 256; 100 (50–200) with context 4,096'
  );
  expect(valueText(ALL, 'End')).toContain('batch 11: 550 (275–1.1 K)');
  expect(
    valueText('Whole requests: tokens/s of answers, all sequences', 'End')
  ).toContain('4.32 K');
  expect(valueText('Decode: tokens/s, one sequence', 'End')).toContain(
    '50 (25–100)'
  );
  expect(valueText('Prefill: time to the first token', 'Home')).toContain(
    'batch 1: 256 ms (128–512 ms) with context 256; 4.1 s'
  );
  expect(valueText('Memory used', 'End')).toContain(
    'does not fit with context 4,096'
  );
  // The point under the pointer is described above the charts.
  const panel = screen.getByRole('tabpanel');
  expect(
    plainSpaces(panel.querySelector('.oad-Sweep-note')!.textContent)
  ).toContain('Memory used, batch 11');
  fireEvent.change(screen.getByLabelText('Curves over'), {
    target: { value: 'context' }
  });
  expect(plainSpaces(panel.textContent)).toContain(
    'KV cache 1.05 MB per token'
  );
  expect(plainSpaces(panel.textContent)).toContain(
    '34 users at once (prompts of 1,024 and answers of 256 tokens)'
  );
  expect(plainSpaces(panel.textContent)).toContain(
    'context 256 is bound by compute from batch 296'
  );
  expect(valueText(ALL, 'End')).toBe(
    'context 4,096: 100 (50–200) with batch 1; 550 (275–1.1 K) with batch 11'
  );
  const rows = (name: string): string[] =>
    within(screen.getByRole('table', { name }))
      .getAllByRole('row')
      .slice(1)
      .map(row => plainSpaces(row.textContent));
  expect(rows('Longest context that fits')).toEqual([
    '14,096 (the model’s own limit)',
    '11744'
  ]);
  expect(rows('Largest batch that fits')).toEqual([
    '25665,536 or more',
    '4,096none fits'
  ]);
  const text = plainSpaces(panel.textContent);
  expect(text).toContain('Prefill: rough, by formula.');
  expect(text).toContain('Assumed: tokens spread evenly.');
});

test('another device starts a request; an error shows its reason', async () => {
  const requested: string[] = [];
  const { handle } = await mount(decoder('acme-two'), {
    serving: choice => {
      requested.push(choice.device);
      return choice.device === 'acme-two'
        ? Promise.resolve(plansOf(choice))
        : Promise.reject(new Error('the file is gone'));
    }
  });
  await open();
  expect(screen.getByText(/Device acme-two/)).toBeTruthy();
  await act(async () =>
    handle.setState({
      version: 1,
      device: { device: 'acme-one', precision: '' }
    })
  );
  await act(async () => new Promise(resolve => setTimeout(resolve, 5)));
  expect(requested).toEqual(['acme-two', 'acme-one']);
  expect(screen.getByRole('alert').textContent).toContain('the file is gone');
});

test('a device is asked for if none is chosen; a page explains what is missing', async () => {
  const first = await mount(decoder(), {
    serving: () => Promise.resolve(null)
  });
  await open();
  fireEvent.click(screen.getByRole('button', { name: 'Choose a device…' }));
  await flushUpdates();
  fireEvent.click(screen.getByRole('option', { name: /Acme Two/ }));
  await flushUpdates();
  await act(async () => new Promise(resolve => setTimeout(resolve, 5)));
  expect(screen.getByText(/results for one device/)).toBeTruthy();
  first.unmount();
  await mount(decoder('acme-two'));
  await open();
  expect(
    screen.getByText(/Text generation cannot be planned here/)
  ).toBeTruthy();
});

test('only decoders have the tab', async () => {
  await mount(withHardware(testPayload(), 'acme-two'), {
    serving: choice => Promise.resolve(plansOf(choice))
  });
  expect(screen.queryByRole('tab', { name: 'Serving' })).toBeNull();
  expect(screen.getByRole('tab', { name: 'Sweep' })).toBeTruthy();
});
