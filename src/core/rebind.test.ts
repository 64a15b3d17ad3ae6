import { describe, expect, it } from 'vitest';
import type { GraphPayload } from '../schema';
import { Rebinder } from './rebind';
import fixture from './testing/rebind.json';

const payload = fixture.payload as unknown as GraphPayload;

describe('other sizes', () => {
  it.each(fixture.cases.map(item => [item.sizes, item] as const))(
    'give what a new analysis gives: %o',
    (sizes, expected) => {
      const found = Rebinder.of(payload)!.rebind(sizes)!;
      for (const [metric, values] of Object.entries(expected.nodes)) {
        expect(found.nodes[metric as 'macs']).toEqual(values);
      }
      const { metrics } = found;
      for (const name of [
        'total_macs',
        'total_flops',
        'read_bytes',
        'write_bytes',
        'peak_activation_bytes',
        'peak_activation_bytes_simple',
        'total_params',
        'by_op'
      ] as const) {
        expect(metrics[name], name).toEqual(expected.metrics[name]);
      }
      expect(found.tensors.shape.map(at => found.shapes[at])).toEqual(
        expected.shapes
      );
      expect(found.timeline).toEqual(expected.timeline);
      expect(found.dims.map(dim => dim.value)).toEqual([
        sizes.batch,
        sizes.seq
      ]);
    }
  );

  it('leave the first payload as it is', () => {
    const before = JSON.stringify(payload);
    Rebinder.of(payload)!.rebind({ batch: 5, seq: 9 });
    expect(JSON.stringify(payload)).toBe(before);
  });

  it('give no curve that misses the peaks of the expressions', () => {
    const { timeline } = payload;
    const end = timeline!.node.length - 1;
    const last = timeline!.tensor_last.map(step => (step < 0 ? step : end));
    const wrong = { ...timeline!, tensor_last: last };
    const rebinder = Rebinder.of({ ...payload, timeline: wrong })!;
    const found = rebinder.rebind({ batch: 3, seq: 7 })!;
    expect(found.timeline).toBeNull();
    expect(found.diagnostics.at(-1)?.message).toContain('memory over time');
  });

  it('need every dimension', () => {
    const rebinder = Rebinder.of(payload)!;
    expect(rebinder.rebind({ batch: 5 })).toBeNull();
    expect(rebinder.rebind({ batch: 5, seq: 0 })).toBeNull();
  });

  it('are refused where a known number has no expression', () => {
    const { expressions } = payload;
    const macs = expressions!.macs.map((tree, node) =>
      node === 4 ? -1 : tree
    );
    expect(
      Rebinder.of({ ...payload, expressions: { ...expressions!, macs } })
    ).toBeNull();
    expect(Rebinder.of({ ...payload, expressions: null })).toBeNull();
  });
});
