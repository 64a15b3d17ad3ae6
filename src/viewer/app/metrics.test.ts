import { describe, expect, test } from 'vitest';
import plugin from '../../../schema/plugin.json?raw';
import {
  METRIC_COLUMNS,
  METRICS,
  RAMPS,
  SHOWN,
  type AnyMetric,
  type StoredMetric
} from '../../schema/metrics';
import { OVERLAY_IDS, OVERLAYS } from '../overlays';
import { COLUMN_IDS, COLUMNS, isShare } from '../features/table/columns';
import { IDENTITY } from '../i18n/translate';
import { derivedOf } from '../../core/model/derivedMetric';
import { METRIC_IDS } from '../../core/model/decodePayload';
import { fieldOf, FIELD_NAMES } from '../../core/query/queryFields';
import { EXECUTION_COSTS } from '../../core/model/executionCounts';
import { Random } from '../../core/testing/random';

const IDS = Object.keys(METRICS) as AnyMetric[];

describe('lists of metrics match the table of metrics', () => {
  test('in the heatmap picker, settings and labels', () => {
    const addedCount = OVERLAY_IDS.length - SHOWN.heatmap.length;
    expect(OVERLAY_IDS.slice(0, -addedCount)).toEqual(SHOWN.heatmap);
    // The other overlays are not metrics.
    expect(OVERLAY_IDS.slice(-addedCount).filter(id => id in METRICS)).toEqual(
      []
    );
    const settings = JSON.parse(plugin);
    const offered: { const: string; title: string }[] =
      settings.properties.overlay.oneOf;
    expect(offered.map(option => option.const)).toEqual([
      'auto',
      'none',
      ...SHOWN.heatmap
    ]);
    for (const id of SHOWN.heatmap) {
      const label = METRICS[id].label(IDENTITY);
      expect(OVERLAYS[id].label(IDENTITY)).toBe(label);
      const title = offered.find(option => option.const === id)?.title;
      expect(title?.startsWith(label)).toBe(true);
      expect(Object.keys(RAMPS)).toContain(METRICS[id].ramp ?? 'viridis');
    }
  });

  test('in the columns, with shares only of additive metrics', () => {
    const numbers = COLUMN_IDS.filter(id => Object.hasOwn(METRIC_COLUMNS, id));
    expect(numbers).toEqual(Object.keys(METRIC_COLUMNS));
    const heads = COLUMN_IDS.map(id => COLUMNS[id].label(IDENTITY));
    expect(new Set(heads).size).toBe(heads.length);
    for (const [column, id] of Object.entries(METRIC_COLUMNS)) {
      const { additive, share } = METRICS[id];
      expect(share !== undefined).toBe(
        Object.hasOwn(METRIC_COLUMNS, `${id}_share`)
      );
      expect(isShare(column as keyof typeof METRIC_COLUMNS) && !additive).toBe(
        column.endsWith('_share')
      );
    }
  });

  test('in query fields and messages', () => {
    for (const id of IDS) {
      const { query = [] } = METRICS[id];
      for (const name of query) {
        expect(fieldOf(name)?.type).toBe('number');
      }
      const named = query.filter(name => FIELD_NAMES.includes(name));
      expect(named).toEqual(query.slice(0, 1));
    }
  });

  test('in the inspector of a node, with those per execution', () => {
    const stored = IDS.filter(id => METRICS[id].stored || METRICS[id].device);
    expect(METRIC_IDS).toEqual(stored);
    expect(EXECUTION_COSTS).toEqual(
      stored.filter(id => METRICS[id].stored === 'execution')
    );
  });
});

test('a derived metric is the quotient of sums, unknown if a part is unknown', () => {
  const random = new Random(5);
  const parts: StoredMetric[] = ['flops', 'macs', 'read_bytes', 'write_bytes'];
  for (let round = 0; round < 2000; round++) {
    const values = new Map(
      parts.map(id => {
        const choice = random.int(8);
        return [id, choice === 0 ? NaN : choice < 3 ? 0 : random.int(1e9)];
      })
    );
    const of = (id: StoredMetric): number => values.get(id) ?? NaN;
    const [over, under] = [parts.slice(0, 2), parts.slice(2)];
    const above = of('flops') + of('macs');
    const below = of('read_bytes') + of('write_bytes');
    expect(derivedOf({ over }, of)).toBe(above);
    const derived = derivedOf({ over, under }, of);
    if (Number.isNaN(above) || Number.isNaN(below)) {
      expect(derived).toBeNaN();
    } else if (below === 0) {
      expect(derived).toBe(above === 0 ? 0 : NaN);
    } else {
      expect(derived * below).toBeCloseTo(above, -1);
    }
  }
});
