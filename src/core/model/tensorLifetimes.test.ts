import { describe, expect, test } from 'vitest';
import { Lifetimes, indexOfPeak } from './tensorLifetimes';
import { decodePayload } from './decodePayload';
import { PayloadBuilder } from '../testing/builder';
import { timelineOf } from '../testing/timeline';
import type { DimValue } from '../../schema';

/** x 64 B → Conv 64 B (weight 256 B) → Relu 64 B → Gemm of the given shape. Tensors: x 0, w 1, 2, 3, 4. */
function chain(last: DimValue[] | null = [1, 32]) {
  const b = new PayloadBuilder();
  const x = b.input('x');
  const [y] = b.add('Conv', [x, b.weight('w', [8, 8])]);
  const [z] = b.add('Relu', [y]);
  b.output(b.add('Gemm', [z], { shape: last })[0]);
  return b.finish();
}

function lifetimes(
  payload = chain(),
  memory: Record<string, number> = {},
  bodies: number[] = []
): Lifetimes {
  const timeline = { ...timelineOf(payload, memory), body_step: bodies };
  return new Lifetimes(decodePayload(payload), timeline);
}

describe('live tensors while a node runs, without weights', () => {
  test('are live from the producer to the last consumer', () => {
    expect(lifetimes().at(0)).toEqual([
      { tensor: 0, bytes: 64, sharing: 1 },
      { tensor: 2, bytes: 64, sharing: 1 }
    ]);
    expect(lifetimes().at(2)).toEqual([
      { tensor: 4, bytes: 128, sharing: 1 },
      { tensor: 3, bytes: 64, sharing: 1 }
    ]);
  });

  test('are one entry if they share memory, named after the newest', () => {
    expect(lifetimes(chain(), { 3: 2 }).at(1)).toEqual([
      { tensor: 3, bytes: 64, sharing: 2 }
    ]);
    // Owners of owners are resolved.
    const three = lifetimes(chain(), { 2: 0, 3: 2 });
    expect(three.at(1)).toEqual([{ tensor: 3, bytes: 64, sharing: 2 }]);
  });

  test('have unknown bytes if a dimension is unknown', () => {
    const alive = lifetimes(chain(null)).at(2);
    expect(alive.find(({ tensor }) => tensor === 4)?.bytes).toBeNull();
  });
});

describe('memory curves', () => {
  test('add up live tensors and count shared memory once', () => {
    expect(lifetimes().curves()).toEqual({
      simple: [128, 128, 192],
      inplace: [128, 128, 192],
      inputs: 64
    });
    expect(lifetimes(chain(), { 3: 2 }).curves()?.inplace).toEqual([
      128, 64, 192
    ]);
  });

  test('are null if a dimension is unknown or a node has subgraphs', () => {
    expect(lifetimes(chain([1, 'n'])).curves()).toBeNull();
    expect(lifetimes(chain(), {}, [1]).curves()).toBeNull();
  });
});

test('the peak is the first of the largest values', () => {
  expect(indexOfPeak([1, 5, 5, 2])).toBe(1);
  expect(indexOfPeak([])).toBe(-1);
});
