import * as React from 'react';
import { formatExact } from '../../core';
import { useTrans } from '../context';
import { kernelText } from '../device/kernel';
import type { ITranslate } from '../translate';
import { Icon } from '../ui/Icon';
import { brief } from '../ui/text';
import {
  formatAmount,
  formatCell,
  isNumeric,
  isShare,
  measureOf,
  type ColumnId,
  type Measure,
  type NumericColumn
} from './columns';
import type { IRowsView, LayerTable } from './rows';
import type { ISum } from './sums';

interface IRowProps {
  readonly id: string;
  readonly row: number;
  readonly top: number;
  readonly table: LayerTable;
  readonly view: IRowsView;
  readonly columns: readonly ColumnId[];
  readonly selected: boolean;
  readonly cursor: boolean;
  /** Whether the block shows what is in it; undefined for a layer. */
  readonly open: boolean | undefined;
  /** Both stay the same from one drawing to the next. */
  readonly onSelect: (entity: number, additive: boolean) => void;
  readonly onToggle: (entity: number) => void;
}

/** Drawn again only when something in it changed: scrolling makes new rows and leaves the others. */
export const TableRow = React.memo((props: IRowProps): JSX.Element => {
  const { view, row, columns, open } = props;
  const blocks = view.depths.length > 0;
  return (
    <div
      id={props.id}
      className={`oad-Grid-row${props.cursor ? ' oad-mod-cursor' : ''}`}
      role="row"
      aria-rowindex={row + 2}
      aria-selected={props.selected}
      aria-level={blocks ? view.depths[row] + 1 : undefined}
      aria-expanded={open}
      style={{ top: props.top }}
      onClick={event =>
        props.onSelect(
          view.entities[row],
          event.shiftKey || event.ctrlKey || event.metaKey
        )
      }
    >
      {columns.map(column =>
        isNumeric(column) ? (
          <NumberCell key={column} {...props} column={column} />
        ) : column === 'name' ? (
          <NameCell key={column} {...props} />
        ) : (
          <TextCell
            key={column}
            text={props.table.text(column, view.entities[row])}
            dot={column === 'op' ? categoryOf(props) : null}
          />
        )
      )}
    </div>
  );
});

function categoryOf({ table, view, row }: IRowProps): string | null {
  const entity = view.entities[row];
  return table.isGroup(entity) ? null : table.tree.model.category(entity);
}

function TextCell(props: { text: string; dot: string | null }): JSX.Element {
  return (
    <div role="gridcell" title={brief(props.text)}>
      {props.dot !== null && (
        <span
          className="oad-Dot"
          data-category={props.dot}
          aria-hidden="true"
        />
      )}
      <bdi>{brief(props.text)}</bdi>
    </div>
  );
}

/** In the table by blocks the names are indented, and blocks have a twisty. */
function NameCell(props: IRowProps): JSX.Element {
  const trans = useTrans();
  const { view, row, open } = props;
  const entity = view.entities[row];
  const text = props.table.text('name', entity);
  const group = entity - props.table.tree.model.nodeCount;
  // Deep models stay readable: indentation ends somewhere.
  const indent = Math.min(view.depths[row] ?? 0, 12) * 14;
  return (
    <div role="gridcell" title={brief(text)}>
      {view.depths.length > 0 && (
        <span style={{ width: indent, flex: 'none' }} />
      )}
      {open !== undefined && (
        <button
          type="button"
          className={`oad-Twisty${open ? ' oad-mod-open' : ''}`}
          tabIndex={-1}
          aria-label={open ? trans.__('Close') : trans.__('Open')}
          onClick={event => {
            event.stopPropagation();
            props.onToggle(entity);
          }}
        >
          <Icon name="right" size={12} />
        </button>
      )}
      <bdi>{brief(text)}</bdi>
      {open !== undefined && (
        <span className="oad-Quiet">{formatExact(view.sums.count[group])}</span>
      )}
    </div>
  );
}

function NumberCell(props: IRowProps & { column: NumericColumn }): JSX.Element {
  const trans = useTrans();
  const { column, table, view, row } = props;
  const entity = view.entities[row];
  const group = entity - table.tree.model.nodeCount;
  const measure = measureOf(column);
  const whole = table.whole.total(measure);
  const sum: ISum =
    group >= 0
      ? view.sums.group(measure, group)
      : { value: table.value(measure, entity, view.sums), unknown: 0 };
  const { value } = sum;
  const reason = table.tree.model.payload.nodes.reason[String(entity)] ?? '';
  // Layers are compared with the heaviest, blocks with the whole.
  const most = view.depths.length > 0 ? whole.value : table.whole.max(measure);
  return (
    <div
      role="gridcell"
      className={`oad-mod-number${value > 0 ? '' : ' oad-mod-zero'}`}
      title={
        group < 0 && measure === 'latency'
          ? brief(kernelText(table.tree.model, entity, trans))
          : group < 0 && Number.isNaN(value)
            ? brief(reason)
            : exactText(measure, sum, view.sums.count[group] ?? 1, trans)
      }
    >
      {isShare(column) && value > 0 && most > 0 && (
        <span
          className="oad-Cell-bar"
          aria-hidden="true"
          style={{ width: `${Math.min(1, value / most) * 100}%` }}
        />
      )}
      <span>{shortText(column, sum, whole.value)}</span>
    </div>
  );
}

/** A sum that lacks parts is a lower bound and looks like one; its share of another such sum is none. */
function shortText(column: NumericColumn, sum: ISum, whole: number): string {
  const text = sum.value === 0 ? '0' : formatCell(column, sum.value, whole);
  return sum.unknown === 0 || Number.isNaN(sum.value)
    ? text
    : `${isShare(column) ? '≈' : '≥'} ${text}`;
}

function exactText(
  measure: Measure,
  sum: ISum,
  count: number,
  trans: ITranslate
): string {
  // No digit of an estimate is exact.
  const exact =
    measure === 'latency'
      ? formatAmount(measure, sum.value)
      : formatExact(sum.value);
  return sum.unknown > 0
    ? `${exact}\n${trans.__('Unknown for %1 of %2 layers.', sum.unknown, count)}`
    : exact;
}

/** The sum of the layers shown. */
export function TotalsRow(props: {
  table: LayerTable;
  view: IRowsView;
  columns: readonly ColumnId[];
  row: number;
}): JSX.Element {
  const trans = useTrans();
  const { table, view, columns } = props;
  const { layers } = view.sums;
  return (
    <div className="oad-Grid-foot" role="row" aria-rowindex={props.row}>
      {columns.map(id => {
        if (!isNumeric(id)) {
          return (
            <div key={id} role="gridcell">
              {id === 'name' &&
                trans._n(
                  'Total of %2 layer',
                  'Total of %2 layers',
                  layers,
                  formatExact(layers)
                )}
            </div>
          );
        }
        const measure = measureOf(id);
        const sum = view.sums.total(measure);
        const whole = table.whole.total(measure).value;
        return (
          <div
            key={id}
            role="gridcell"
            className="oad-mod-number"
            title={exactText(measure, sum, layers, trans)}
          >
            <span>{shortText(id, sum, whole)}</span>
          </div>
        );
      })}
    </div>
  );
}
