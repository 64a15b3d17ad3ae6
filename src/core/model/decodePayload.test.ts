import { describe, expect, it } from 'vitest';
import { decodePayload } from './decodePayload';
import { PayloadBuilder } from '../testing/builder';

function small() {
  const b = new PayloadBuilder();
  const x = b.input('x', [1, 'batch', null]);
  const w = b.weight('w', [3]);
  const [c] = b.add('Constant', []);
  const [y] = b.add('Add', [x, x], { shape: null, macs: null });
  const [z] = b.add('Mul', [y, w], { shape: [] });
  b.add('Clip', [z, -1, c]);
  return b.finish();
}

describe('decodePayload', () => {
  it('distinguishes unknown from zero', () => {
    const model = decodePayload(small());
    expect(Array.from(model.metrics.macs)).toEqual([0, NaN, 0, 0]);
    expect(Array.from(model.metrics.params)).toEqual([0, 0, 0, 0]);
  });

  it('lists every consumer once', () => {
    const model = decodePayload(small());
    const readers = (tensor: number) =>
      Array.from(
        model.consumers.slice(
          model.consumerOffsets[tensor],
          model.consumerOffsets[tensor + 1]
        )
      );
    expect([0, 1, 2].map(readers)).toEqual([[1], [2], [3]]);
  });

  it('resolves names', () => {
    const model = decodePayload(small());
    expect(model.opType(1)).toBe('Add');
    expect(model.category(1)).toBe('data');
    expect(model.nodeName(1)).toBe('Add_1');
    expect(model.tensorName(0)).toBe('x');
    expect([0, 1, 3, 4].map(model.shapeText)).toEqual([
      '1×batch×?',
      '3',
      '?',
      'scalar'
    ]);
    expect(model.dtypeText(0)).toBe('float32');
  });

  it('marks Constant nodes', () => {
    expect(Array.from(decodePayload(small()).nodeConstant)).toEqual([
      1, 0, 0, 0
    ]);
  });

  it('accepts ids that are out of range', () => {
    const payload = small();
    payload.nodes.inputs[0] = 999;
    payload.nodes.op[1] = 77;
    payload.nodes.scope[1] = 12;
    payload.tensors.shape[0] = -4;
    payload.tensors.producer[0] = 500;
    const model = decodePayload(payload);
    expect(model.inputs[0]).toBe(-1);
    expect(model.opType(1)).toBe('?');
    expect(model.nodeScope[1]).toBe(-1);
    expect(model.shapeText(0)).toBe('?');
    expect(model.tensorProducer[0]).toBe(-1);
  });
});
