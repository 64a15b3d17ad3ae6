/** Filters, sorts and sums the rows of the table. Independent of React. */

import { derivedOf } from '../../../core/model/derivedMetric';
import { compileMatcher } from '../../../core/query/queryMatcher';
import {
  parseQuery,
  type IQuerySyntaxError
} from '../../../core/query/queryParser';
import type { ITree } from '../../../core/types';
import { METRICS } from '../../../schema/metrics';
import type { ISortKey, ITableState } from '../../state/tableState';
import {
  COLUMN_IDS,
  isDerived,
  isNumeric,
  measureOf,
  type ColumnMeasure,
  type TextColumn
} from './columns';
import { Sums } from './layerSums';
import { CellTexts } from './cellTexts';

/** Rows to show. Rows are entities: nodes, and in the table by blocks also groups. */
export interface IRowsView {
  readonly entities: Int32Array;
  /** Nesting depth of each row; empty without blocks. */
  readonly depths: Uint16Array;
  /** Layers that match the filter. */
  readonly layers: Int32Array;
  /** Their sums by block. */
  readonly sums: Sums;
  /** Syntax error of the filter, which is then ignored. */
  readonly fault: IQuerySyntaxError | null;
}

/** The layers of a model: all nodes except Constants. */
export class LayerTable {
  readonly nodes: Int32Array;
  /** Sums of the whole model. */
  readonly whole: Sums;
  private readonly _texts: CellTexts;

  constructor(readonly tree: ITree) {
    const { model } = tree;
    this.nodes = Int32Array.from(
      { length: model.nodeCount },
      (_, node) => node
    ).filter(node => model.nodeConstant[node] === 0);
    this._texts = new CellTexts(tree);
    this.whole = new Sums(tree, this.nodes);
  }

  /** Text of a cell, as shown in the table. */
  text(column: TextColumn, entity: number): string {
    return this._texts.text(column, entity);
  }

  isGroup(entity: number): boolean {
    return entity >= this.tree.model.nodeCount;
  }

  /** Value of a layer, or of a block over the layers counted in `sums`. NaN if unknown. */
  value(measure: ColumnMeasure, entity: number, sums: Sums): number {
    const { nodeCount, metrics } = this.tree.model;
    if (entity >= nodeCount) {
      return sums.group(measure, entity - nodeCount).value;
    }
    return isDerived(measure)
      ? derivedOf(METRICS[measure], id => metrics[id][entity])
      : metrics[measure][entity];
  }

  /** The rows for a state; `open` holds the expanded blocks. */
  view(state: ITableState, open: ReadonlySet<number>): IRowsView {
    const { query, fault } = parseQuery(state.filter);
    const matches = query && compileMatcher(this.tree, query);
    const layers = this.nodes.filter(
      node =>
        (state.op === '' || this.text('op', node) === state.op) &&
        (matches === null || matches(node))
    );
    const isAll = layers.length === this.nodes.length;
    const sums = isAll ? this.whole : new Sums(this.tree, layers);
    const compare = this._order(state.sort, sums);
    if (state.grouped) {
      const blocks = this._blocks(layers, sums, open, compare);
      return { ...blocks, layers, sums, fault };
    }
    const entities = compare ? layers.slice().sort(compare) : layers;
    return { entities, depths: new Uint16Array(0), layers, sums, fault };
  }

  private _order(
    sort: readonly ISortKey[],
    sums: Sums
  ): ((a: number, b: number) => number) | null {
    const keys = sort.flatMap(key => {
      const column = COLUMN_IDS.find(id => id === key.column);
      if (column === undefined) {
        return [];
      }
      const sign = key.descending ? -1 : 1;
      const of = isNumeric(column)
        ? this._values(measureOf(column), sums)
        : this._texts.ranks(column);
      // Unknown numbers come last in both directions.
      return [of.map(x => (Number.isNaN(x) ? Infinity : sign * x))];
    });
    return keys.length === 0
      ? null
      : (a, b) => {
          for (const of of keys) {
            if (of[a] !== of[b]) {
              return of[a] - of[b];
            }
          }
          return a - b;
        };
  }

  /** The number of every entity. */
  private _values(measure: ColumnMeasure, sums: Sums): Float64Array {
    const { model, groupCount } = this.tree;
    return Float64Array.from(
      { length: model.nodeCount + groupCount },
      (_, entity) => this.value(measure, entity, sums)
    );
  }

  /** Blocks with matching layers, and the contents of the expanded ones. */
  private _blocks(
    layers: Int32Array,
    sums: Sums,
    open: ReadonlySet<number>,
    compare: ((a: number, b: number) => number) | null
  ): Pick<IRowsView, 'entities' | 'depths'> {
    const { children, model, groupDepth } = this.tree;
    const matching = new Uint8Array(model.nodeCount);
    for (const node of layers) {
      matching[node] = 1;
    }
    const rows = (group: number): Int32Array => {
      const list = children[group + 1].filter(entity =>
        entity < model.nodeCount
          ? matching[entity] === 1
          : sums.count[entity - model.nodeCount] > 0
      );
      return (compare ? list.sort(compare) : list).reverse();
    };
    const entities: number[] = [];
    const depths: number[] = [];
    const stack = Array.from(rows(-1));
    for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
      const group = next - model.nodeCount;
      const parent = group < 0 ? this.tree.nodeParent[next] : -1;
      entities.push(next);
      depths.push(
        group >= 0 ? groupDepth[group] : parent < 0 ? 0 : groupDepth[parent] + 1
      );
      if (group >= 0 && open.has(group)) {
        for (const entity of rows(group)) {
          stack.push(entity);
        }
      }
    }
    return {
      entities: Int32Array.from(entities),
      depths: Uint16Array.from(depths)
    };
  }
}

/** Operator types in use, by name, with their number of layers. */
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
