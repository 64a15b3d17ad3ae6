import { describe, expect, test } from 'vitest';
import { buildTree, decodePayload } from '../../../core';
import { withLatency } from '../../../core/latency/latencyEstimate';
import {
  DEFAULT_TABLE,
  type ISortKey,
  type ITableState
} from '../../state/tableState';
import { withHardware } from '../../testing/hardware';
import { testPayload } from '../../testing/payload';
import {
  COLUMN_IDS,
  offeredColumns,
  shownColumns,
  type ColumnId
} from './columns';
import { rowsCsv, rowsJson, rowsTsv } from './exportRows';
import { nextSort } from './Header';
import { LayerTable, opTypes } from './layerTable';

const NONE: ReadonlySet<number> = new Set();

function table(change: Parameters<typeof testPayload>[0] = {}): LayerTable {
  return new LayerTable(buildTree(decodePayload(testPayload(change))));
}

const USUAL = shownColumns(offeredColumns(table().tree), null);

function rows(
  layers: LayerTable,
  state: Partial<ITableState>,
  open = NONE
): number[] {
  return [...layers.view({ ...DEFAULT_TABLE, ...state }, open).entities];
}

const by = (column: ColumnId, descending = false): ISortKey => ({
  column,
  descending
});

describe('sorting', () => {
  test('orders numbers both ways, unknown always last', () => {
    const layers = table();
    expect(rows(layers, { sort: [by('macs', true)] })).toEqual([2, 0, 1, 3, 4]);
    expect(rows(layers, { sort: [by('macs')] })).toEqual([1, 3, 0, 2, 4]);
  });

  test('uses the next column for equal rows', () => {
    const layers = table({ blocks: 3 });
    const sort = [by('op'), by('macs', true)];
    expect(rows(layers, { sort })).toEqual([4, 2, 0, 6, 1, 3, 5]);
    expect(rows(layers, { sort: [by('op', true), by('macs')] })).toEqual([
      1, 3, 5, 6, 0, 2, 4
    ]);
  });

  test('orders names by the numbers in them', () => {
    const layers = table({ blocks: 12 });
    const names = rows(layers, { sort: [by('name')] })
      .map(node => layers.text('name', node))
      .filter(name => name.startsWith('conv'));
    expect(names.indexOf('conv_2')).toBeLessThan(names.indexOf('conv_10'));
  });

  test('computes intensity as FLOPs per byte moved', () => {
    const layers = table();
    expect(layers.value('intensity', 0, layers.whole)).toBe(2000 / 768);
    expect(layers.value('intensity', 4, layers.whole)).toBeNaN();
    expect(rows(layers, { sort: [by('intensity', true)] })[0]).toBe(2);
  });

  test('keeps the order of the graph for an unknown column', () => {
    const sort = [{ column: '__proto__', descending: true }];
    expect(rows(table(), { sort })).toEqual([0, 1, 2, 3, 4]);
  });
});

describe('sorting after a click on a header', () => {
  const down = by('macs', true);
  test('is descending, ascending, then off', () => {
    expect(nextSort([], 'macs', false)).toEqual([down]);
    expect(nextSort([down], 'macs', false)).toEqual([by('macs')]);
    expect(nextSort([by('macs')], 'macs', false)).toEqual([]);
    expect(nextSort([down], 'name', false)).toEqual([by('name')]);
  });

  test('follows the current columns with Shift', () => {
    const two = [down, by('name')];
    expect(nextSort([down], 'name', true)).toEqual(two);
    expect(nextSort(two, 'macs', true)).toEqual([by('macs'), by('name')]);
    expect(nextSort([by('macs'), by('name')], 'macs', true)).toEqual([
      by('name')
    ]);
    expect(nextSort(two, 'name', false)).toEqual([by('name')]);
  });
});

describe('filtering', () => {
  test('matches all words', () => {
    const layers = table();
    expect(rows(layers, { filter: 'block.1' })).toEqual([2, 3]);
    expect(rows(layers, { filter: 'BLOCK.1 conv' })).toEqual([2]);
    expect(rows(layers, { filter: 'nothing' })).toEqual([]);
  });

  test('matches conditions', () => {
    const layers = table();
    expect(rows(layers, { filter: 'op=Relu | macs>=2000' })).toEqual([1, 2, 3]);
  });

  test('reports an invalid filter and hides nothing', () => {
    const view = table().view({ ...DEFAULT_TABLE, filter: 'macs>' }, NONE);
    expect(view.fault?.kind).toBe('no-value');
    expect(view.entities).toHaveLength(5);
  });

  test('matches operator types', () => {
    const layers = table();
    expect(rows(layers, { op: 'Relu' })).toEqual([1, 3]);
    expect(opTypes(layers)).toEqual([
      ['Conv', 2],
      ['Mystery', 1],
      ['Relu', 2]
    ]);
  });
});

describe('grouping by block', () => {
  // Entities: nodes 0 … 4, then the groups net (5), block.0 (6) and block.1 (7).
  const layers = table();
  const grouped = { grouped: true };

  test('shows the layers of expanded blocks only', () => {
    expect(rows(layers, grouped)).toEqual([5, 4]);
    const { entities, depths } = layers.view(
      { ...DEFAULT_TABLE, ...grouped },
      new Set([0, 2])
    );
    expect([...entities]).toEqual([5, 6, 7, 2, 3, 4]);
    expect([...depths]).toEqual([0, 1, 1, 2, 2, 0]);
  });

  test('sums only matching layers', () => {
    const table = layers.view({ ...DEFAULT_TABLE, ...grouped }, NONE);
    expect(table.sums.group('macs', 0)).toEqual({ value: 3000, unknown: 0 });
    expect(table.sums.total('macs')).toEqual({ value: 3000, unknown: 1 });
    const filtered = layers.view(
      { ...DEFAULT_TABLE, ...grouped, filter: 'macs>1500' },
      new Set([0])
    );
    expect([...filtered.entities]).toEqual([5, 7]);
    expect(filtered.sums.group('macs', 0).value).toBe(2000);
    expect(filtered.sums.count[0]).toBe(1);
  });

  test('sorts rows within their block', () => {
    const sort = [by('macs', true)];
    const open = new Set([0, 1, 2]);
    expect(rows(layers, { ...grouped, sort }, open)).toEqual([
      5, 7, 2, 3, 6, 0, 1, 4
    ]);
  });
});

describe('totals', () => {
  test('sum known values and count unknown ones', () => {
    const layers = table();
    expect(layers.whole.layers).toBe(5);
    expect(layers.whole.total('macs')).toEqual({ value: 3000, unknown: 1 });
    const unknownSums = layers.view(
      { ...DEFAULT_TABLE, op: 'Mystery' },
      NONE
    ).sums;
    expect(unknownSums.total('macs').value).toBeNaN();
  });

  test('have an unknown quotient of incomplete sums', () => {
    const layers = table();
    expect(layers.whole.total('intensity').value).toBeNaN();
    expect(layers.whole.group('intensity', 0).value).toBe(6128 / 2560);
  });
});

describe('export', () => {
  const visibleRows = (
    layers: LayerTable,
    state: Partial<ITableState> = {},
    columns = USUAL
  ) => ({
    table: layers,
    view: layers.view({ ...DEFAULT_TABLE, ...state }, NONE),
    columns
  });

  test('has every row with exact numbers, unknown ones empty', () => {
    const lines = rowsCsv(visibleRows(table())).trim().split('\r\n');
    expect(lines).toHaveLength(6);
    expect(lines[0]).toBe(USUAL.join(','));
    expect(lines[1]).toBe(
      'conv_0,Conv,net/block.0,2×8,2×8,float32,100,400,1000,0.333333,2000,512,256,256,2.6041666666666665'
    );
    expect(lines[5]).toBe('odd,Mystery,,2×8,?,float32,0,0,,,,,,,');
  });

  test('has the visible columns and rows in order', () => {
    const columns: ColumnId[] = ['name', 'macs'];
    const state = { sort: [by('macs', true)], op: 'Conv' };
    expect(rowsCsv(visibleRows(table(), state, columns))).toBe(
      'name,macs\r\nconv_1,2000\r\nconv_0,1000\r\n'
    );
    expect(rowsTsv(visibleRows(table(), state, columns))).toBe(
      'name\tmacs\r\nconv_1\t2000\r\nconv_0\t1000\r\n'
    );
    expect(JSON.parse(rowsJson(visibleRows(table(), state, columns)))).toEqual([
      { name: 'conv_1', macs: 2000 },
      { name: 'conv_0', macs: 1000 }
    ]);
  });

  test('has the number of layers missing from the sums of blocks', () => {
    const layers = table();
    const columns: ColumnId[] = ['name', 'macs'];
    expect(
      JSON.parse(rowsJson(visibleRows(layers, { grouped: true }, columns)))
    ).toEqual([
      { level: 0, layers: 4, layers_unknown: 0, name: 'net', macs: 3000 },
      { level: 0, layers: 1, layers_unknown: 1, name: 'odd', macs: null }
    ]);
  });

  test('names the device of latencies', () => {
    const model = withLatency(decodePayload(withHardware(testPayload())), {
      device: 'acme-two',
      precision: 'fp16'
    });
    const layers = new LayerTable(buildTree(model));
    const columns: ColumnId[] = ['name', 'latency_s'];
    const lines = rowsCsv(visibleRows(layers, {}, columns)).split('\r\n');
    expect(lines[0]).toBe('name,latency_s,latency_device');
    expect(lines[1]).toMatch(/^conv_0,0\.0001\d*,"Acme Two, FP16"$/);
    expect(lines[5]).toBe('odd,,"Acme Two, FP16"');
    const [first] = JSON.parse(
      rowsJson(visibleRows(layers, { grouped: true }, columns))
    );
    expect(first).toMatchObject({ latency_device: 'Acme Two, FP16' });
  });

  test.each(['=1+2', '+x', '-x', '@SUM(A1)', '\tx', '\r=1'])(
    'escapes a name like %j',
    name => {
      const cell = rowsCsv(visibleRows(table({ name }))).split('\r\n')[1];
      expect(cell.startsWith(`"'${name}"`)).toBe(true);
    }
  );

  test('escapes quotes and commas', () => {
    const csv = rowsCsv(visibleRows(table({ name: 'a,"b"\nc' })));
    expect(csv).toContain('"a,""b""\nc"');
  });
});

test('fifty thousand rows are sorted by text and number', () => {
  const layers = table({ blocks: 25_000 });
  const sorted = rows(layers, { sort: [by('module', true), by('macs')] });
  expect(sorted).toHaveLength(50_001);
  expect(layers.text('module', sorted[0])).toBe('net/block.24999');
  expect(rows(layers, { sort: [by('macs', true)] })[0]).toBe(2 * 24_999);
}, 60_000);

test('only chosen columns that exist are shown', () => {
  expect(shownColumns(COLUMN_IDS, ['flops', 'gone', 'op'])).toEqual([
    'name',
    'op',
    'flops'
  ]);
  expect(shownColumns(COLUMN_IDS, COLUMN_IDS)).toEqual(COLUMN_IDS);
  // No device is chosen, so there are no times.
  expect(USUAL.some(id => id.startsWith('latency'))).toBe(false);
});
