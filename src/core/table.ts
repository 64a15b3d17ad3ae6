/** Rows of the per-layer table: an order and a filter over the nodes, as typed arrays. */

import { parseQuery } from './search';
import type { IGraphModel, MetricId } from './types';

export type TableColumn =
  'order' | 'name' | 'op' | 'shape' | 'dtype' | MetricId;

export interface ITableQuery {
  readonly sort: TableColumn;
  readonly descending: boolean;
  /** Words that must all occur in a row's name, type, shape or element type. */
  readonly text?: string;
  /** Only these operator types; empty or missing: all. */
  readonly ops?: readonly string[];
}

/** Sums over the rows shown; unknown parts are counted, not added. */
export interface ITableTotals {
  readonly rows: number;
  readonly sum: Readonly<Record<MetricId, number>>;
  readonly unknown: Readonly<Record<MetricId, number>>;
}

/** First output of a node, -1 = none. */
function firstOutput(model: IGraphModel, node: number): number {
  const begin = model.outputOffsets[node];
  return begin < model.outputOffsets[node + 1] ? model.outputs[begin] : -1;
}

export class TableModel {
  /** Rows are the nodes, Constant nodes excluded, in the model's order. */
  constructor(model: IGraphModel) {
    this._model = model;
    this._nodes = Int32Array.from(
      { length: model.nodeCount },
      (_, n) => n
    ).filter(node => model.nodeConstant[node] === 0);
  }

  get rowCount(): number {
    return this._nodes.length;
  }

  /** Text of a node in a text column. */
  text(node: number, column: 'name' | 'op' | 'shape' | 'dtype'): string {
    const model = this._model;
    const output = firstOutput(model, node);
    switch (column) {
      case 'name':
        return model.nodeName(node);
      case 'op':
        return model.opType(node);
      case 'shape':
        return output < 0 ? '' : model.shapeText(output);
      case 'dtype':
        return output < 0 ? '' : model.dtypeText(output);
    }
  }

  /** Nodes to show, in order. Equal rows keep the model's order; unknown numbers come last. */
  rows(query: ITableQuery): Int32Array {
    const rows = this._filter(query);
    const { sort, descending } = query;
    if (sort === 'order') {
      return descending ? rows.reverse() : rows;
    }
    if (
      sort === 'name' ||
      sort === 'op' ||
      sort === 'shape' ||
      sort === 'dtype'
    ) {
      return this._sortByRank(rows, this._textRanks(sort), descending);
    }
    return this._sortByRank(rows, this._model.metrics[sort], descending);
  }

  totals(rows: Int32Array): ITableTotals {
    const sum = {} as Record<MetricId, number>;
    const unknown = {} as Record<MetricId, number>;
    for (const id of Object.keys(this._model.metrics) as MetricId[]) {
      const values = this._model.metrics[id];
      sum[id] = 0;
      unknown[id] = 0;
      for (const node of rows) {
        if (Number.isNaN(values[node])) {
          unknown[id]++;
        } else {
          sum[id] += values[node];
        }
      }
    }
    return { rows: rows.length, sum, unknown };
  }

  private _filter({ text = '', ops = [] }: ITableQuery): Int32Array {
    const terms = parseQuery(text);
    const wanted = new Set(ops);
    if (terms.length === 0 && wanted.size === 0) {
      return this._nodes.slice();
    }
    const texts = terms.length > 0 ? this._searchTexts() : [];
    return this._nodes.filter(
      node =>
        (wanted.size === 0 || wanted.has(this._model.opType(node))) &&
        terms.every(({ text: word, exact }) =>
          texts[node].includes(exact ? `\n${word}\n` : word)
        )
    );
  }

  private _searchTexts(): string[] {
    this._texts ??= Array.from({ length: this._model.nodeCount }, (_, node) => {
      const { _model: model } = this;
      const fields = [model.nodeName(node), model.opType(node)];
      const output = firstOutput(model, node);
      if (output >= 0) {
        fields.push(model.shapeText(output), model.dtypeText(output));
      }
      return `\n${fields.join('\n').toLowerCase()}\n`;
    });
    return this._texts;
  }

  /** Place of every node's text among the distinct texts; numbers in names count as numbers. */
  private _textRanks(column: 'name' | 'op' | 'shape' | 'dtype'): Float64Array {
    let ranks = this._ranks.get(column);
    if (!ranks) {
      const texts = Array.from({ length: this._model.nodeCount }, (_, node) =>
        this.text(node, column)
      );
      const compare = new Intl.Collator('en', { numeric: true }).compare;
      const place = new Map(
        [...new Set(texts)]
          .sort(compare)
          .map((text, i): [string, number] => [text, i])
      );
      ranks = Float64Array.from(texts, text => place.get(text) ?? 0);
      this._ranks.set(column, ranks);
    }
    return ranks;
  }

  private _sortByRank(
    rows: Int32Array,
    value: Float64Array,
    descending: boolean
  ): Int32Array {
    const sign = descending ? -1 : 1;
    return rows.sort((a, b) => {
      const [p, q] = [value[a], value[b]];
      const missing = Number(Number.isNaN(p)) - Number(Number.isNaN(q));
      if (missing !== 0) {
        return missing;
      }
      return p === q || Number.isNaN(p) ? a - b : sign * (p - q);
    });
  }

  private readonly _model: IGraphModel;
  private readonly _nodes: Int32Array;
  private readonly _ranks = new Map<string, Float64Array>();
  private _texts: string[] | null = null;
}
