import { describe, expect, test } from 'vitest';
import { DEFAULT_TABLE, readTable } from './tableState';

describe('readTable', () => {
  test('keeps valid fields', () => {
    const state = {
      sort: [{ column: 'macs', descending: true }],
      filter: 'op=Conv',
      op: 'Conv',
      grouped: true,
      columns: ['name', 'op']
    };
    expect(readTable(JSON.parse(JSON.stringify(state)))).toEqual(state);
  });

  test('reads the former format with one column', () => {
    expect(readTable({ sort: 'macs', descending: false })?.sort).toEqual([
      { column: 'macs', descending: false }
    ]);
    expect(readTable({ sort: '', descending: true })).toEqual(DEFAULT_TABLE);
  });

  test.each([
    { sort: 7, filter: {}, op: null, grouped: 'yes', columns: 'name' },
    { sort: [null, 3, {}, { column: 5 }], columns: null }
  ])('gives the defaults for %j', value => {
    expect(readTable(value)).toEqual(DEFAULT_TABLE);
  });

  test.each([null, undefined, 'x', []])('rejects %j', value => {
    expect(readTable(value)).toBeUndefined();
  });
});
