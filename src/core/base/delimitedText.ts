/** Tables as text for other programs: CSV (RFC 4180), or tab-separated for the clipboard. */

export type Cell = string | number | null;

/**
 * Text that a spreadsheet may take for a formula, also after characters that it ignores; a leading tab or
 * line break moves the text to another cell. Same as in `py_autodoc/render/csv.py`; both are tested
 * against one file.
 */
const FORMULA_START = /^(?:[\s\p{Cc}\p{Cf}]*[=+\-@＝＋－＠]|[\t\r\n])/u;

/** Quotes a cell so that no spreadsheet executes it and no separator in it breaks the table. */
export function safeCell(cell: Cell): string {
  if (cell === null) {
    return '';
  }
  if (typeof cell === 'number') {
    return String(cell);
  }
  const inert = FORMULA_START.test(cell) ? `'${cell}` : cell;
  return /[",\t\n\r]/.test(inert) || inert !== cell
    ? `"${inert.replaceAll('"', '""')}"`
    : inert;
}

/** Joins rows of cells, with a separator between cells. */
export function delimitedText(
  rows: Iterable<readonly Cell[]>,
  separator: ',' | '\t'
): string {
  let text = '';
  for (const cells of rows) {
    text += `${cells.map(safeCell).join(separator)}\r\n`;
  }
  return text;
}
