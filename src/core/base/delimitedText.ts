/** Tables as text for other programs: CSV (RFC 4180), or with tabs for the clipboard. */

export type Cell = string | number | null;

/**
 * What a spreadsheet takes for a formula, also behind characters that it passes over; a tab or a line break at
 * the beginning moves the text to another cell. As in `py_autodoc/render/csv.py`; both are tested with one file.
 */
const FORMULA_START = /^(?:[\s\p{Cc}\p{Cf}]*[=+\-@＝＋－＠]|[\t\r\n])/u;

/** A cell that no spreadsheet runs and no separator in it breaks. */
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

/** Rows with a separator between cells. */
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
