import { expect, test } from 'vitest';
import { testPayload, SYMBOL } from '../testing/payload';
import { IDENTITY } from '../i18n/translate';
import { tilesOf } from './totalTiles';

function values(payload: ReturnType<typeof testPayload>): Map<string, string> {
  return new Map(
    tilesOf(payload, IDENTITY).map(({ id, value }) => [id, value])
  );
}

test('a model that cannot run shows that instead of its totals', () => {
  const payload = testPayload();
  payload.runnable = {
    verdict: 'no',
    reason: 'fc: 16384 columns do not fit 2048 rows',
    node: 3,
    sizes: true,
    file: false
  };
  const { metrics } = payload;
  metrics.total_macs = metrics.total_flops = null;
  metrics.peak_activation_bytes = null;
  metrics.peak_reason = 'the model cannot run';
  const tiles = tilesOf(payload, IDENTITY);
  for (const id of ['macs', 'flops', 'peak']) {
    const tile = tiles.find(item => item.id === id)!;
    expect(tile.value, id).toBe('cannot run');
    expect(tile.isKnown).toBe(false);
    expect(tile.detail).toContain('fc: 16384 columns do not fit 2048 rows');
  }
  expect(values(payload).get('params')).not.toBe('cannot run');
});

test('coverage is not a share until dimensions are set', () => {
  const free = testPayload({ dims: [{ ...SYMBOL, value: null }] });
  free.coverage = { ...free.coverage, nodes: 0.003, nodes_known: 1 };
  free.coverage.nodes_total = 300;
  expect(values(free).get('coverage')).toBe('needs values');
  const bound = { ...free, dims: [{ ...SYMBOL, value: 2 }] };
  expect(values(bound).get('coverage')).toMatch(/%$/);
  const unsized = testPayload({ dims: [{ ...SYMBOL, value: null }] });
  unsized.coverage = { ...unsized.coverage, nodes: 1, nodes_known: 3 };
  unsized.coverage.nodes_total = 3;
  expect(values(unsized).get('coverage')).toMatch(/^100/);
});

test('unknown parameters name the weight responsible', () => {
  const payload = testPayload();
  payload.metrics.total_params = null;
  payload.metrics.params_reason = 'the weight w cannot have the shape 2×3';
  const tile = tilesOf(payload, IDENTITY).find(item => item.id === 'params')!;
  expect(tile.isKnown).toBe(false);
  expect(tile.detail).toBe('Unknown: the weight w cannot have the shape 2×3.');
});
