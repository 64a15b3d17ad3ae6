import * as React from 'react';
import { formatExact } from '../../core';
import { useTrans } from '../context';
import { brief } from '../ui/text';
import { COLUMNS, type IColumn } from './columns';
import { isNumeric, NUMERIC, type ITotals, type LayerTable } from './rows';

interface ILayerRowProps {
  readonly id: string;
  readonly node: number;
  readonly row: number;
  readonly top: number;
  readonly table: LayerTable;
  /** Of the whole model, for shares. */
  readonly totals: ITotals;
  readonly selected: boolean;
  onSelect(): void;
}

export function LayerRow(props: ILayerRowProps): JSX.Element {
  const { node, table, totals } = props;
  return (
    <div
      id={props.id}
      className="oad-Grid-row"
      role="row"
      aria-rowindex={props.row + 2}
      aria-selected={props.selected}
      style={{ top: props.top }}
      onClick={props.onSelect}
    >
      {COLUMNS.map(column => (
        <Cell
          key={column.id}
          column={column}
          node={node}
          table={table}
          totals={totals}
        />
      ))}
    </div>
  );
}

function Cell(props: {
  column: IColumn;
  node: number;
  table: LayerTable;
  totals: ITotals;
}): JSX.Element {
  const { column, node, table, totals } = props;
  const { model } = table.tree;
  if (isNumeric(column.id) && column.format) {
    const value = model.metrics[NUMERIC[column.id]][node];
    const total = totals.sum[column.id];
    const isShare = column.id.endsWith('_share');
    const text = value === 0 ? '0' : column.format(value, total);
    return (
      <div
        role="gridcell"
        className={`oad-mod-number${value > 0 ? '' : ' oad-mod-zero'}`}
        title={
          Number.isNaN(value)
            ? brief(model.payload.nodes.reason[String(node)] ?? '')
            : formatExact(value)
        }
      >
        {isShare && value > 0 && (
          // Relative to the heaviest layer, so that small shares can be compared.
          <span
            className="oad-Cell-bar"
            aria-hidden="true"
            style={{ width: `${(value / totals.max[column.id]) * 100}%` }}
          />
        )}
        <span>{text}</span>
      </div>
    );
  }
  const text = isNumeric(column.id) ? '' : table.text(column.id, node);
  return (
    <div role="gridcell" title={brief(text)}>
      {column.id === 'op' && (
        <span
          className="oad-Dot"
          data-category={model.category(node)}
          aria-hidden="true"
        />
      )}
      <bdi>{brief(text)}</bdi>
    </div>
  );
}

/** The sum of the rows shown. */
export function TotalsRow(props: {
  totals: ITotals;
  all: ITotals;
  row: number;
}): JSX.Element {
  const trans = useTrans();
  const { totals, all } = props;
  return (
    <div className="oad-Grid-foot" role="row" aria-rowindex={props.row}>
      {COLUMNS.map(column => {
        const { id } = column;
        if (!isNumeric(id) || !column.format) {
          return (
            <div key={id} role="gridcell">
              {id === 'name' &&
                trans._n(
                  'Total of %1 layer',
                  'Total of %1 layers',
                  totals.count
                )}
            </div>
          );
        }
        const value = totals.sum[id];
        return (
          <div
            key={id}
            role="gridcell"
            className="oad-mod-number"
            title={formatExact(value)}
          >
            <span>{column.format(value, all.sum[id])}</span>
          </div>
        );
      })}
    </div>
  );
}
