import { describe, expect, test } from 'vitest';
import CASES from '../../../tests/data/formula_cases.json';
import { safeCell, delimitedText } from './delimitedText';

describe('delimited cells', () => {
  test.each(CASES.formulas)('escapes %j so that it is not a formula', text => {
    expect(safeCell(text)).toBe(`"'${text.replaceAll('"', '""')}"`);
  });

  test.each(CASES.texts)('leaves %j unchanged', text => {
    expect(safeCell(text).replace(/^"|"$/g, '').replaceAll('""', '"')).toBe(
      text
    );
  });

  test('writes numbers, and unknown as an empty cell', () => {
    expect([safeCell(-1.5), safeCell(0), safeCell(null)]).toEqual([
      '-1.5',
      '0',
      ''
    ]);
  });
});

test('rows end with CRLF and cells with separators are quoted', () => {
  const rows = [
    ['a', 'b,c'],
    ['d"e', 1]
  ];
  expect(delimitedText(rows, ',')).toBe('a,"b,c"\r\n"d""e",1\r\n');
  expect(delimitedText([['x\ty', '=1']], '\t')).toBe('"x\ty"\t"\'=1"\r\n');
});
