/** Sorting, filtering and adding up the rows of the layers table. No React here. */

import type { IGraphModel, ITree } from '../../core/types';
import type { ITableState } from '../state/types';

/** The column ids, in order. */
export const COLUMN_IDS = [
  'name',
  'op',
  'input_shape',
  'output_shape',
  'params',
  'params_share',
  'macs',
  'macs_share',
  'flops',
  'activation_bytes',
  'weight_bytes',
  'scope'
] as const;
export type ColumnId = (typeof COLUMN_IDS)[number];

/** Columns that hold a number and its metric; shares sort as what they are shares of. */
export const NUMERIC = {
  params: 'params',
  params_share: 'params',
  macs: 'macs',
  macs_share: 'macs',
  flops: 'flops',
  activation_bytes: 'activation_bytes',
  weight_bytes: 'weight_bytes'
} as const;

export type NumericColumn = keyof typeof NUMERIC;

export function isNumeric(column: string): column is NumericColumn {
  return Object.hasOwn(NUMERIC, column);
}

/** The first tensor that comes from another node or from outside, else the first there is. */
export function mainInput(model: IGraphModel, node: number): number {
  const from = model.inputOffsets[node];
  const to = model.inputOffsets[node + 1];
  for (let at = from; at < to; at++) {
    const tensor = model.inputs[at];
    const kind = tensor < 0 ? -1 : model.tensorKind[tensor];
    if (kind === 0 || kind === 1 || kind === 4) {
      return tensor;
    }
  }
  return from < to ? model.inputs[from] : -1;
}

export function mainOutput(model: IGraphModel, node: number): number {
  const from = model.outputOffsets[node];
  return from < model.outputOffsets[node + 1] ? model.outputs[from] : -1;
}

/** Text of a text column, as written in the table. */
export function cellText(
  tree: ITree,
  column: ColumnId,
  node: number
): string {
  const { model } = tree;
  const shape = (tensor: number): string =>
    tensor < 0 ? '' : model.shapeText(tensor);
  switch (column) {
    case 'name':
      return model.nodeName(node) || `#${node}`;
    case 'op':
      return model.opType(node);
    case 'input_shape':
      return shape(mainInput(model, node));
    case 'output_shape':
      return shape(mainOutput(model, node));
    case 'scope':
      return tree.path(node).join('/');
    default:
      return '';
  }
}

/** Nodes that the table shows: all but constants. */
export function tableNodes(model: IGraphModel): Int32Array {
  return Int32Array.from({ length: model.nodeCount }, (_, node) => node).filter(
    node => model.nodeConstant[node] === 0
  );
}

/** Operator types in use, with their number of rows, by name. */
export function opTypes(
  model: IGraphModel
): readonly (readonly [type: string, count: number])[] {
  const counts = new Map<string, number>();
  for (const node of tableNodes(model)) {
    const type = model.opType(node);
    counts.set(type, (counts.get(type) ?? 0) + 1);
  }
  return [...counts].sort((a, b) => (a[0] < b[0] ? -1 : 1));
}

function filtered(tree: ITree, state: ITableState): Int32Array {
  const { model } = tree;
  const words = state.filter.toLowerCase().split(/\s+/).filter(Boolean);
  const nodes = tableNodes(model);
  if (words.length === 0 && state.op === '') {
    return nodes;
  }
  return nodes.filter(node => {
    if (state.op !== '' && model.opType(node) !== state.op) {
      return false;
    }
    if (words.length === 0) {
      return true;
    }
    const text = (['name', 'op', 'input_shape', 'output_shape', 'scope'] as const)
      .map(column => cellText(tree, column, node))
      .join('\n')
      .toLowerCase();
    return words.every(word => text.includes(word));
  });
}

/** Rows to show, in order. Unknown numbers come last whichever way the sort goes. */
export function tableRows(tree: ITree, state: ITableState): Int32Array {
  const rows = filtered(tree, state);
  const { sort } = state;
  const sign = state.descending ? -1 : 1;
  if (isNumeric(sort)) {
    const values = tree.model.metrics[NUMERIC[sort]];
    return rows.sort((a, b) => {
      const [x, y] = [values[a], values[b]];
      if (Number.isNaN(x) || Number.isNaN(y)) {
        return Number(Number.isNaN(x)) - Number(Number.isNaN(y)) || a - b;
      }
      return sign * (x - y) || a - b;
    });
  }
  const column = COLUMN_IDS.find(id => id === sort);
  if (column === undefined) {
    return rows;
  }
  const order = new Intl.Collator('en', { numeric: true });
  const texts = new Map<number, string>();
  for (const node of rows) {
    texts.set(node, cellText(tree, column, node));
  }
  return rows.sort(
    (a, b) =>
      sign * order.compare(texts.get(a) ?? '', texts.get(b) ?? '') || a - b
  );
}

export interface ITotals {
  readonly count: number;
  /** Sum of the known values; NaN when none is known. */
  readonly sum: Readonly<Record<NumericColumn, number>>;
}

export function tableTotals(model: IGraphModel, rows: Int32Array): ITotals {
  const total = (column: NumericColumn): number => {
    const values = model.metrics[NUMERIC[column]];
    let sum = 0;
    let known = 0;
    for (const node of rows) {
      if (!Number.isNaN(values[node])) {
        sum += values[node];
        known++;
      }
    }
    return known > 0 || rows.length === 0 ? sum : Number.NaN;
  };
  return {
    count: rows.length,
    sum: Object.fromEntries(
      (Object.keys(NUMERIC) as NumericColumn[]).map(id => [id, total(id)])
    ) as Record<NumericColumn, number>
  };
}

/** Spreadsheets run a cell that starts with one of these as a formula. */
const FORMULA = /^[=+\-@\t\r]/;

function csvCell(text: string): string {
  const inert = FORMULA.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(inert) || inert !== text
    ? `"${inert.replaceAll('"', '""')}"`
    : inert;
}

/** The rows as CSV (RFC 4180): exact numbers, unknown ones empty, no cell a spreadsheet would run. */
export function tableCsv(tree: ITree, rows: Int32Array): string {
  const { model } = tree;
  const totals = tableTotals(model, tableNodes(model)).sum;
  const lines = [COLUMN_IDS.join(',')];
  for (const node of rows) {
    const cells = COLUMN_IDS.map(column => {
      if (!isNumeric(column)) {
        return csvCell(cellText(tree, column, node));
      }
      const value = model.metrics[NUMERIC[column]][node];
      if (Number.isNaN(value)) {
        return '';
      }
      return column.endsWith('_share')
        ? totals[column] > 0
          ? (value / totals[column]).toFixed(6)
          : ''
        : String(value);
    });
    lines.push(cells.join(','));
  }
  return lines.join('\r\n') + '\r\n';
}

