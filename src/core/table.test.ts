import { describe, expect, it } from 'vitest';
import { decode } from './model';
import { TableModel } from './table';
import { PayloadBuilder } from './testing/builder';
import { llamaPayload } from './testing/payloads';

function sample() {
  const b = new PayloadBuilder();
  const x = b.input('x');
  b.add('Conv', [x], { name: 'layer10', macs: 5, params: 3, shape: [8] });
  b.add('Constant', []);
  b.add('Relu', [x], { name: 'layer2', macs: null });
  b.add('Conv', [x], { name: 'layer1', macs: 9, params: 3 });
  b.add('Gemm', [x], { name: 'head', macs: 0 });
  b.add('Relu', [x], { name: 'tail', macs: null });
  return new TableModel(decode(b.finish()));
}

describe('table', () => {
  const table = sample();
  const rows = (
    sort: Parameters<TableModel['rows']>[0]['sort'],
    descending = false
  ) => Array.from(table.rows({ sort, descending }));

  it('leaves Constant nodes out', () => {
    expect(table.rowCount).toBe(5);
    expect(rows('order')).toEqual([0, 2, 3, 4, 5]);
    expect(rows('order', true)).toEqual([5, 4, 3, 2, 0]);
  });

  it('sorts numbers with unknown ones last, either way', () => {
    expect(rows('macs')).toEqual([4, 0, 3, 2, 5]);
    expect(rows('macs', true)).toEqual([3, 0, 4, 2, 5]);
  });

  it('keeps the order of equal rows, either way', () => {
    expect(rows('params', true)).toEqual([0, 3, 2, 4, 5]);
    expect(rows('op')).toEqual([0, 3, 4, 2, 5]);
    expect(rows('op', true)).toEqual([2, 5, 4, 0, 3]);
  });

  it('sorts numbers in names as numbers', () => {
    const names = rows('name').map(node => table.text(node, 'name'));
    expect(names).toEqual(['head', 'layer1', 'layer2', 'layer10', 'tail']);
  });

  it('filters by words and by type', () => {
    const filtered = (text: string, ops: string[] = []) =>
      Array.from(table.rows({ sort: 'order', descending: false, text, ops }));
    expect(filtered('LAYER')).toEqual([0, 2, 3]);
    expect(filtered('layer conv')).toEqual([0, 3]);
    expect(filtered('', ['Relu', 'Gemm'])).toEqual([2, 4, 5]);
    expect(filtered('layer', ['Relu'])).toEqual([2]);
    expect(filtered('"relu"')).toEqual([2, 5]);
    expect(filtered('nothing')).toEqual([]);
  });

  it('adds up what is shown and counts what is unknown', () => {
    const shown = table.rows({ sort: 'order', descending: false });
    const totals = table.totals(shown);
    expect(totals.rows).toBe(5);
    expect([totals.sum.macs, totals.unknown.macs]).toEqual([14, 2]);
    expect([totals.sum.params, totals.unknown.params]).toEqual([6, 0]);
  });

  it('sorts 50,000 rows', () => {
    const large = new TableModel(decode(llamaPayload(1700)));
    const sorted = large.rows({ sort: 'name', descending: true });
    expect(sorted.length).toBe(large.rowCount);
    expect(new Set(sorted).size).toBe(large.rowCount);
  });
});
