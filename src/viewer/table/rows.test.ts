import { describe, expect, test } from 'vitest';
import { buildTree, decode } from '../../core';
import type { ITableState } from '../state/types';
import { testPayload } from '../testing/payload';
import { LayerTable, opTypes, tableCsv, tableTotals } from './rows';

const ALL: ITableState = { sort: '', descending: true, filter: '', op: '' };

function table(change: Parameters<typeof testPayload>[0] = {}): LayerTable {
  return new LayerTable(buildTree(decode(testPayload(change))));
}

describe('sorting', () => {
  test('numbers, both ways; unknown ones always last', () => {
    const layers = table();
    const down = layers.rows({ ...ALL, sort: 'macs' });
    const up = layers.rows({ ...ALL, sort: 'macs', descending: false });
    expect([...down]).toEqual([2, 0, 1, 3, 4]);
    expect([...up]).toEqual([1, 3, 0, 2, 4]);
  });

  test('names sort by the numbers in them', () => {
    const layers = table({ blocks: 12 });
    const names = [...layers.rows({ ...ALL, sort: 'name', descending: false })]
      .map(node => layers.text('name', node))
      .filter(name => name.startsWith('conv'));
    expect(names.indexOf('conv_2')).toBeLessThan(names.indexOf('conv_10'));
  });

  test('an unknown column keeps the order of the graph', () => {
    expect([...table().rows({ ...ALL, sort: '__proto__' })]).toEqual([
      0, 1, 2, 3, 4
    ]);
  });
});

describe('filtering', () => {
  test('by words anywhere in the row, all of which must match', () => {
    const layers = table();
    expect([...layers.rows({ ...ALL, filter: 'block.1' })]).toEqual([2, 3]);
    expect([...layers.rows({ ...ALL, filter: 'BLOCK.1 conv' })]).toEqual([2]);
    expect([...layers.rows({ ...ALL, filter: 'nothing' })]).toEqual([]);
  });

  test('by operator type', () => {
    const layers = table();
    expect([...layers.rows({ ...ALL, op: 'Relu' })]).toEqual([1, 3]);
    expect(opTypes(layers)).toEqual([
      ['Conv', 2],
      ['Mystery', 1],
      ['Relu', 2]
    ]);
  });
});

test('totals add up what is known', () => {
  const layers = table();
  const { sum, count } = tableTotals(layers.tree.model, layers.nodes);
  expect(count).toBe(5);
  expect(sum.macs).toBe(3000);
  const odd = tableTotals(layers.tree.model, Int32Array.of(4));
  expect(odd.sum.macs).toBeNaN();
});

describe('CSV', () => {
  test('has every row with exact numbers, unknown ones empty', () => {
    const layers = table();
    const lines = tableCsv(layers, layers.nodes).trim().split('\r\n');
    expect(lines).toHaveLength(6);
    expect(lines[0].split(',')).toContain('macs_share');
    expect(lines[1]).toBe(
      'conv_0,Conv,2×8,2×8,100,0.500000,1000,0.333333,2000,256,400,net/block.0'
    );
    expect(lines[5]).toContain('odd,Mystery,2×8,?,0,');
    expect(lines[5].endsWith(',,,,,0,')).toBe(true);
  });

  test.each(['=1+2', '+x', '-x', '@SUM(A1)', '\tx', '\r=1'])(
    'a name like %j is no formula',
    name => {
      const layers = table({ name });
      const cell = tableCsv(layers, layers.nodes).split('\r\n')[1];
      expect(cell.startsWith(`"'${name}"`)).toBe(true);
    }
  );

  test('quotes and commas are escaped', () => {
    const layers = table({ name: 'a,"b"\nc' });
    expect(tableCsv(layers, layers.nodes)).toContain('"a,""b""\nc"');
  });
});

test('fifty thousand rows are sorted by text and number', () => {
  const layers = table({ blocks: 25_000 });
  const rows = layers.rows({ ...ALL, sort: 'scope', descending: true });
  expect(rows).toHaveLength(50_001);
  expect(layers.text('scope', rows[0])).toBe('net/block.24999');
  expect(layers.rows({ ...ALL, sort: 'macs' })[0]).toBe(2 * 24_999);
}, 60_000);
