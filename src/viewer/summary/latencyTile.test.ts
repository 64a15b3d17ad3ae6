/** Times that are incomplete, unknown or do not fit are marked wherever they are shown. */
import { expect, test } from 'vitest';
import { decodePayload } from '../../core';
import { withLatency } from '../../core/latency/latencyEstimate';
import type { IGraphModel } from '../../core/types';
import type { GraphPayload } from '../../schema';
import { differenceOf } from './totalDifference';
import { pictureCaption } from '../export/pictureCaption';
import { withHardware } from '../testing/hardware';
import { testPayload } from '../testing/payload';
import { IDENTITY } from '../i18n/translate';
import { latencyTile } from './latencyTile';

const CHOICE = { device: 'acme-two', precision: '' };

const timed = (payload: GraphPayload): IGraphModel =>
  withLatency(decodePayload(payload), CHOICE);
const plainSpaces = (text = ''): string => text.replace(/\u00a0/g, ' ');
const caption = (model: IGraphModel): string =>
  plainSpaces(pictureCaption(model, IDENTITY).lines.join('\n'));
const tileOf = (model: IGraphModel) => latencyTile(model, CHOICE, IDENTITY)!;

/** Without the kernel that has no time. */
function withAllKnown(payload: GraphPayload): GraphPayload {
  const { kernels } = payload.hardware!;
  const count = kernels.kind.length - 1;
  const node = kernels.node.map(kernel => (kernel < count ? kernel : -1));
  const hardware = {
    ...payload.hardware!,
    kernels: { ...kernels, node, kind: kernels.kind.slice(0, count) }
  };
  return { ...payload, hardware };
}

test('an incomplete sum is a lower bound, with the likely range of the known part', () => {
  const model = timed(withHardware(testPayload()));
  expect(caption(model)).toContain(
    'Latency on Acme Two, FP32: ≥ 200 µs · 100–400 µs for the known kernels (rough) · fused runtime assumed'
  );
  const complete = timed(withAllKnown(withHardware(testPayload())));
  expect(caption(complete)).toContain(': 200 µs · 100–400 µs (rough)');
  expect(plainSpaces(tileOf(complete).note)).toBe(
    '100–400 µs · best case 0.78 ns'
  );
});

test('assumptions about experts are stated if there are any', () => {
  const payload = withHardware(testPayload());
  const assumed = 'Assumes that tokens are spread evenly over the experts.';
  expect(tileOf(timed(payload)).detail).not.toContain(assumed);
  payload.hardware!.kernels.routed = [
    { router: 0, chosen: 1, dims: ['n'], kernels: [0], macs: [0], depth: [0] }
  ];
  expect(tileOf(timed(payload)).detail).toContain(assumed);
});

test('a model that does not fit into memory shows that instead of the range', () => {
  const payload = withHardware(testPayload());
  payload.metrics.peak_activation_bytes = 2 ** 33;
  const model = timed(payload);
  const message = 'Does not fit: needs about 9.45 GB, has 8.59 GB.';
  expect(plainSpaces(tileOf(model).note)).toBe(message);
  expect(plainSpaces(tileOf(model).detail)).toContain(message);
  expect(caption(model)).toContain(message);
  payload.metrics.peak_activation_bytes = null;
  expect(tileOf(timed(payload)).detail).not.toContain('memory');
});

test('the latency is unknown with a reason if no kernel is known', () => {
  const payload = withHardware(testPayload());
  const { kernels } = payload.hardware!;
  kernels.kind = kernels.kind.map(() => -1);
  const model = timed(payload);
  expect(tileOf(model)).toMatchObject({ value: '—', isKnown: false });
  expect(tileOf(model).detail).toMatch(/^Unknown: /);
  expect(caption(model)).toContain('Latency on Acme Two, FP32 unknown ·');
});

test('times are compared with the device and precision of each', () => {
  const [left, right] = [3, 2].map(blocks => {
    const payload = withAllKnown(withHardware(testPayload({ blocks })));
    payload.hardware!.stored = [blocks === 3 ? 'fp16' : 'fp32'];
    return timed(payload);
  });
  const difference = (a: IGraphModel, b: IGraphModel) =>
    differenceOf(a, b, 'latency', IDENTITY);
  const { text, detail, isKnown: known } = difference(left, right);
  expect([plainSpaces(text), known]).toEqual(['+100 µs (+50.0 %)', true]);
  expect(plainSpaces(detail)).toBe(
    'Here: 300 µs (Acme Two, FP16)\nThere: 200 µs (Acme Two, FP32)\nDifference: +100 µs (+50.0 %)'
  );
  const unknown = { text: '—', isKnown: false };
  expect(difference(left, withLatency(right, null))).toMatchObject(unknown);
  const partial = timed(withHardware(testPayload()));
  expect(difference(left, partial)).toMatchObject(unknown);
});

test('a model that cannot run has no latency, even if some kernels are known', () => {
  const payload = withAllKnown(withHardware(testPayload()));
  expect(tileOf(timed(payload)).isKnown).toBe(true);
  const model = timed({
    ...payload,
    runnable: {
      verdict: 'no',
      reason: 'fc: sizes',
      node: 1,
      sizes: true,
      file: false
    }
  });
  const tile = tileOf(model);
  expect(tile.value).toBe('cannot run');
  expect(tile.isKnown).toBe(false);
  expect(tile.detail).toContain('fc: sizes');
  expect(differenceOf(model, timed(payload), 'latency', IDENTITY).isKnown).toBe(
    false
  );
});
