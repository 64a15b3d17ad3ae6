/** Two devices for the small payload, as the library would describe its kernels. */

import type { GraphPayload, HardwarePart } from '../../schema';

/** Seconds per kernel launch in these tests: much more than its work. */
export const START = 1e-4;

const MODEL: HardwarePart['model'] = {
  gemm_e: 1,
  gemm_k0: 0,
  tiles: [[64, 64, 1]],
  utilisation_floor: 0.01,
  split_k_min: 256,
  split_k_max: 8,
  attention_e: 0.2,
  attention_rows: 64,
  attention_precision: {},
  batched_e: 0.5,
  grouped_e: 0.4,
  grouped_k0: 64,
  grouped_step: 32,
  depthwise_e: 0.05,
  memory_e: 1,
  l2_fraction: 0.5,
  l2_bytes_per_clock: 32,
  overhead_s: START,
  overhead_cycles: 7445,
  issue_s: 0,
  recurrent_kernels: 2,
  experts_kernels: 4,
  experts_rows: 16,
  cpu_gemm_e: 0.4,
  cpu_conv_e: 0.4,
  cpu_memory_e: 0.3,
  cpu_overhead_s: 2 * START,
  widths: { fp32: 4, tf32: 4, fp16: 2, bf16: 2, fp8: 1, int8: 1 },
  bands: [
    { low: 0.5, high: 2, label: 'rough' },
    { low: 0.4, high: 2.5, label: 'order of magnitude' }
  ],
  compared: ['fp32', 'fp16', 'int8'],
  uncompared_share: 0.1
};

const DEVICES: HardwarePart['devices'] = {
  id: ['acme-one', 'acme-two', 'zeta-chip'],
  name: ['Acme One', 'Acme Two', 'Zeta Chip'],
  vendor: ['acme', 'acme', 'zeta'],
  category: ['cpu', 'consumer', 'edge'],
  memory_bytes: [null, 8 * 2 ** 30, 24 * 2 ** 30],
  usable_memory_fraction: [null, null, null],
  bandwidth_bytes_per_s: [1e11, 1e12, 2e12],
  peaks: {
    fp32: [1e12, 1e13, null],
    tf32: [null, null, null],
    fp16: [null, 2e13, 1e14],
    bf16: [null, null, null],
    fp8: [null, null, null],
    int8: [null, null, 4e14]
  },
  sustained: [1, 1, 0.7],
  units: [null, 16, null],
  l2_bytes: [null, null, null],
  clock_hz: [null, null, null],
  band: [0, 0, 1],
  confidence: ['high', 'high', 'high'],
  measured: {},
  watts: [null, 75, 350.5],
  prices: {
    1: {
      usd_per_hour: 0.72,
      instance: 'cloud-two',
      region: 'here-1',
      date: '2026-08'
    }
  }
};

/** Each Conv is fused with its Relu; the last node's kernel has no time. */
export function withHardware(
  payload: GraphPayload,
  device = '',
  precision = ''
): GraphPayload {
  const { op, input_offsets, inputs, output_offsets, outputs } = payload.nodes;
  const blocks = (op.length - 1) / 2;
  const blockIds = Array.from({ length: blocks }, (_, block) => block);
  const all = [...blockIds, blocks];
  const outputOf = (block: number): number =>
    outputs[output_offsets[2 * block]];
  const read = blockIds.map(block =>
    inputs.slice(input_offsets[2 * block], input_offsets[2 * block + 1])
  );
  const kernels: HardwarePart['kernels'] = {
    node: [...blockIds.flatMap(block => [block, block]), blocks],
    kind: [...blockIds.map(() => 2), -1],
    anchor: [...blockIds.map(block => 2 * block), 2 * blocks],
    read_offsets: [0, ...all.map(block => 2 * Math.min(block + 1, blocks))],
    reads: read.flat(),
    write_offsets: [0, ...all.map(block => Math.min(block + 1, blocks))],
    writes: blockIds.map(block => outputs[output_offsets[2 * block + 1]]),
    product: [...blockIds.map(outputOf), -1],
    n_axis: [...blockIds.map(() => 1), -1],
    groups: all.map(() => 1),
    routed: [],
    by_element: []
  };
  const hardware: HardwarePart = {
    devices: DEVICES,
    model: MODEL,
    runtime: 'tensorrt',
    runtime_label: 'TensorRT',
    runtimes: [],
    kernels,
    stored: ['fp32'],
    chosen: device,
    precision
  };
  return { ...payload, hardware };
}
