import * as React from 'react';
import { formatExact } from '../../../core';
import { kernelText } from '../../summary/kernelText';
import type { ITranslate } from '../../i18n/translate';
import { Icon } from '../../ui/Icon';
import { shortLabel } from '../../ui/safeText';
import {
  formatAmount,
  formatCell,
  isNumeric,
  isShare,
  measureOf,
  type ITableGrid,
  type IColumnPlace,
  type ColumnMeasure,
  type NumericColumn
} from './columns';
import type { IRowsView, LayerTable } from './layerTable';
import type { ISum } from './layerSums';
import { useTrans } from '../../i18n/translateContext';

interface ITableRowProps {
  readonly id: string;
  readonly row: number;
  readonly top: number;
  readonly table: LayerTable;
  readonly view: IRowsView;
  readonly grid: ITableGrid;
  readonly selected: boolean;
  readonly cursor: boolean;
  /** Whether the block is expanded; undefined for a layer. */
  readonly open: boolean | undefined;
  /** Stable callbacks. */
  readonly onSelect: (entity: number, additive: boolean) => void;
  readonly onToggle: (entity: number) => void;
}

/** Renders only if its data changed: scrolling adds rows and leaves the others alone. */
export const TableRow = React.memo((props: ITableRowProps): JSX.Element => {
  const { table, view, row, open, selected, cursor } = props;
  const trans = useTrans();
  const [hovered, setHovered] = React.useState(false);
  // Exact numbers and reasons are only rendered where they can be seen; they would be half the work of a
  // table.
  const titled = hovered || selected || cursor;
  const entity = view.entities[row];
  return (
    <div
      id={props.id}
      className={`oad-Grid-row${cursor ? ' oad-mod-cursor' : ''}`}
      role="row"
      aria-rowindex={row + 2}
      aria-selected={selected}
      aria-level={view.depths.length > 0 ? view.depths[row] + 1 : undefined}
      aria-expanded={open}
      style={{ top: props.top }}
      onPointerEnter={() => setHovered(true)}
      onPointerLeave={() => setHovered(false)}
      onClick={event =>
        props.onSelect(entity, event.shiftKey || event.ctrlKey || event.metaKey)
      }
    >
      {props.grid.positions.map(({ id, style }) => {
        if (isNumeric(id)) {
          const cell = numberOf(props, id);
          return (
            <NumberCell
              key={id}
              {...cell}
              style={style}
              title={titled ? titleOf(props, id, trans) : undefined}
            />
          );
        }
        const text = table.text(id, entity);
        return id === 'name' ? (
          <NameCell key={id} {...props} text={text} style={style} />
        ) : (
          <TextCell
            key={id}
            text={text}
            style={style}
            dot={
              id === 'op' && !table.isGroup(entity)
                ? table.tree.model.category(entity)
                : null
            }
          />
        );
      })}
    </div>
  );
});

interface ICellProps {
  readonly style: IColumnPlace['style'];
}

const TextCell = React.memo(
  (props: ICellProps & { text: string; dot: string | null }): JSX.Element => {
    const text = shortLabel(props.text);
    return (
      <div role="gridcell" title={text} style={props.style}>
        {props.dot !== null && (
          <span
            className="oad-Dot"
            data-category={props.dot}
            aria-hidden="true"
          />
        )}
        <bdi>{text}</bdi>
      </div>
    );
  }
);

/** In the table by blocks, names are indented and blocks have an expander. */
function NameCell(
  props: ITableRowProps & ICellProps & { text: string }
): JSX.Element {
  const trans = useTrans();
  const { view, row, open } = props;
  const entity = view.entities[row];
  const text = shortLabel(props.text);
  const group = entity - props.table.tree.model.nodeCount;
  // Limits the indentation in deep models.
  const indent = Math.min(view.depths[row] ?? 0, 12) * 14;
  return (
    <div role="gridcell" title={text} style={props.style}>
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
      <bdi>{text}</bdi>
      {open !== undefined && (
        <span className="oad-Quiet">{formatExact(view.sums.count[group])}</span>
      )}
    </div>
  );
}

interface INumberCell {
  readonly text: string;
  readonly zero: boolean;
  /** Length of the bar behind it, as a share of the cell. */
  readonly bar: number;
}

/** Memoised: most numbers of most rows do not change. */
const NumberCell = React.memo(
  ({
    text,
    zero,
    bar,
    style,
    title
  }: INumberCell & ICellProps & { title: string | undefined }): JSX.Element => (
    <div
      role="gridcell"
      className={`oad-mod-number${zero ? ' oad-mod-zero' : ''}`}
      style={
        bar > 0 ? { ...style, backgroundSize: `${bar * 100}% 18px` } : style
      }
      title={title}
    >
      {text}
    </div>
  )
);

/** The sum shown in a layer's or block's cell. */
function sumOf(
  { table, view, row }: ITableRowProps,
  measure: ColumnMeasure
): ISum {
  const entity = view.entities[row];
  return table.isGroup(entity)
    ? view.sums.group(measure, entity - table.tree.model.nodeCount)
    : { value: table.value(measure, entity, view.sums), unknown: 0 };
}

function numberOf(props: ITableRowProps, column: NumericColumn): INumberCell {
  const { table, view } = props;
  const measure = measureOf(column);
  const sum = sumOf(props, measure);
  const { value } = sum;
  const total = table.whole.total(measure).value;
  // Layers are compared with the heaviest one, blocks with the total.
  const maximum = view.depths.length > 0 ? total : table.whole.max(measure);
  return {
    text: shortText(column, sum, total),
    zero: !(value > 0),
    bar:
      isShare(column) && value > 0 && maximum > 0
        ? Math.min(1, value / maximum)
        : 0
  };
}

/** The exact number, or why there is none. */
function titleOf(
  props: ITableRowProps,
  column: NumericColumn,
  trans: ITranslate
): string {
  const { table, view, row } = props;
  const { model } = table.tree;
  const entity = view.entities[row];
  const measure = measureOf(column);
  const sum = sumOf(props, measure);
  if (table.isGroup(entity)) {
    const count = view.sums.count[entity - model.nodeCount];
    return exactText(measure, sum, count, trans);
  }
  return measure === 'latency'
    ? shortLabel(kernelText(model, entity, trans))
    : Number.isNaN(sum.value)
      ? shortLabel(model.payload.nodes.reason[String(entity)] ?? '')
      : exactText(measure, sum, 1, trans);
}

/**
 * An incomplete sum is marked as a lower bound; its share of another incomplete sum is only approximate.
 */
function shortText(column: NumericColumn, sum: ISum, total: number): string {
  const text = sum.value === 0 ? '0' : formatCell(column, sum.value, total);
  return sum.unknown === 0 || Number.isNaN(sum.value)
    ? text
    : `${isShare(column) ? '≈' : '≥'} ${text}`;
}

function exactText(
  measure: ColumnMeasure,
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
  grid: ITableGrid;
  row: number;
}): JSX.Element {
  const trans = useTrans();
  const { table, view, grid } = props;
  const { layers } = view.sums;
  return (
    <div className="oad-Grid-foot" role="row" aria-rowindex={props.row}>
      {grid.positions.map(({ id, style }) => {
        if (!isNumeric(id)) {
          return (
            <div key={id} role="gridcell" style={style}>
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
        const total = table.whole.total(measure).value;
        return (
          <NumberCell
            key={id}
            text={shortText(id, sum, total)}
            zero={false}
            bar={0}
            style={style}
            title={exactText(measure, sum, layers, trans)}
          />
        );
      })}
    </div>
  );
}
