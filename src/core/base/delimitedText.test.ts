import { describe, expect, test } from 'vitest';
import CASES from '../../../tests/data/formula_cases.json';
import { safeCell, delimitedText } from './delimitedText';

describe('cells', () => {
  test.each(CASES.formulas)('%j is not a formula', text => {
    expect(safeCell(text)).toBe(`"'${text.replaceAll('"', '""')}"`);
  });

  test.each(CASES.texts)('%j stays as it is', text => {
    expect(safeCell(text).replace(/^"|"$/g, '').replaceAll('""', '"')).toBe(
      text
    );
  });

  test('numbers and what is unknown', () => {
    expect([safeCell(-1.5), safeCell(0), safeCell(null)]).toEqual([
      '-1.5',
      '0',
      ''
    ]);
  });
});

test('rows end as RFC 4180 has it, and separators in cells break nothing', () => {
  const rows = [
    ['a', 'b,c'],
    ['d"e', 1]
  ];
  expect(delimitedText(rows, ',')).toBe('a,"b,c"\r\n"d""e",1\r\n');
  expect(delimitedText([['x\ty', '=1']], '\t')).toBe('"x\ty"\t"\'=1"\r\n');
});
