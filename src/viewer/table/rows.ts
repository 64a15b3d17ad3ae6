/** Sorting, filtering and adding up the rows of the layers table. No React here. */

import { matcher } from '../../core/matcher';
import { parseQuery } from '../../core/query';
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
export type TextColumn = Exclude<ColumnId, NumericColumn>;

export function isNumeric(column: ColumnId): column is NumericColumn {
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

/** Operator types in use, with their number of rows, by name. */
export function opTypes(
  table: LayerTable
): readonly (readonly [type: string, count: number])[] {
  const counts = new Map<string, number>();
  for (const node of table.nodes) {
    const type = table.text('op', node);
    counts.set(type, (counts.get(type) ?? 0) + 1);
  }
  return [...counts].sort((a, b) => (a[0] < b[0] ? -1 : 1));
}

/** The rows of one model: all nodes but constants. Texts and orders are made once, on first need. */
export class LayerTable {
  readonly nodes: Int32Array;
  private readonly _texts = new Map<TextColumn, readonly string[]>();
  private readonly _ranks = new Map<TextColumn, Float64Array>();

  constructor(readonly tree: ITree) {
    const { model } = tree;
    this.nodes = Int32Array.from(
      { length: model.nodeCount },
      (_, node) => node
    ).filter(node => model.nodeConstant[node] === 0);
  }

  /** Text of a cell, as written in the table. */
  text(column: TextColumn, node: number): string {
    let texts = this._texts.get(column);
    if (texts === undefined) {
      texts = this._make(column);
      this._texts.set(column, texts);
    }
    return texts[node];
  }

  /** Rows to show, in order. Unknown numbers come last whichever way the sort goes. */
  rows(query: ITableState): Int32Array {
    const rows = this._filter(query);
    const { sort, descending } = query;
    const column = COLUMN_IDS.find(id => id === sort);
    if (column === undefined) {
      return rows;
    }
    const sign = descending ? -1 : 1;
    const values = isNumeric(column)
      ? this.tree.model.metrics[NUMERIC[column]]
      : this._ranksOf(column);
    return rows.sort((a, b) => {
      const [x, y] = [values[a], values[b]];
      if (Number.isNaN(x) || Number.isNaN(y)) {
        return Number(Number.isNaN(x)) - Number(Number.isNaN(y)) || a - b;
      }
      return sign * (x - y) || a - b;
    });
  }

  private _filter({ filter, op }: ITableState): Int32Array {
    const { query } = parseQuery(filter);
    const matches = query && matcher(this.tree, query);
    return this.nodes.filter(
      node =>
        (op === '' || this.text('op', node) === op) &&
        (matches === null || matches(node))
    );
  }

  private _make(column: TextColumn): string[] {
    const { tree } = this;
    const { model } = tree;
    const shape = (tensor: number): string =>
      tensor < 0 ? '' : model.shapeText(tensor);
    const paths = new Map<number, string>();
    const scope = (node: number): string => {
      const group = tree.nodeParent[node];
      const known = paths.get(group);
      const path = known ?? tree.path(node).join('/');
      paths.set(group, path);
      return path;
    };
    const text: Record<TextColumn, (node: number) => string> = {
      name: node => model.nodeName(node) || `#${node}`,
      op: node => model.opType(node),
      input_shape: node => shape(mainInput(model, node)),
      output_shape: node => shape(mainOutput(model, node)),
      scope
    };
    return Array.from({ length: model.nodeCount }, (_, node) =>
      text[column](node)
    );
  }

  /** Place of every text among the distinct ones; numbers in texts count as numbers. */
  private _ranksOf(column: TextColumn): Float64Array {
    let ranks = this._ranks.get(column);
    if (ranks === undefined) {
      this.text(column, 0);
      const texts = this._texts.get(column) ?? [];
      const { compare } = new Intl.Collator('en', { numeric: true });
      const place = new Map(
        [...new Set(texts)]
          .sort(compare)
          .map((text, at): [string, number] => [text, at])
      );
      ranks = Float64Array.from(texts, text => place.get(text) ?? 0);
      this._ranks.set(column, ranks);
    }
    return ranks;
  }
}

export interface ITotals {
  readonly count: number;
  /** Sum of the known values; NaN when none is known. */
  readonly sum: Readonly<Record<NumericColumn, number>>;
  /** Largest known value, 0 when there is none. */
  readonly max: Readonly<Record<NumericColumn, number>>;
}

export function tableTotals(model: IGraphModel, rows: Int32Array): ITotals {
  const columns = Object.keys(NUMERIC) as NumericColumn[];
  const sum = Object.fromEntries(columns.map(id => [id, 0]));
  const max = Object.fromEntries(columns.map(id => [id, 0]));
  for (const id of columns) {
    const values = model.metrics[NUMERIC[id]];
    let known = 0;
    for (const node of rows) {
      if (!Number.isNaN(values[node])) {
        sum[id] += values[node];
        max[id] = Math.max(max[id], values[node]);
        known++;
      }
    }
    if (known === 0 && rows.length > 0) {
      sum[id] = Number.NaN;
    }
  }
  return {
    count: rows.length,
    sum: sum as Record<NumericColumn, number>,
    max: max as Record<NumericColumn, number>
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
export function tableCsv(table: LayerTable, rows: Int32Array): string {
  const { model } = table.tree;
  const totals = tableTotals(model, table.nodes).sum;
  const lines = [COLUMN_IDS.join(',')];
  for (const node of rows) {
    const cells = COLUMN_IDS.map(column => {
      if (!isNumeric(column)) {
        return csvCell(table.text(column, node));
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
