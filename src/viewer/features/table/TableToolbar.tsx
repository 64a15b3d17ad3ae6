import * as React from 'react';
import { formatExact } from '../../../core';
import { useDocument, useSession } from '../../session/sessionContext';
import { deliverFile } from '../../export/deliverFile';
import { fileName } from '../../export/downloadFile';
import { queryHelp, queryMessage } from '../../session/queryMessage';
import type { ITableState } from '../../state/tableState';
import { CopyButton } from '../common/CopyButton';
import {
  COLUMN_IDS,
  COLUMNS,
  offeredColumns,
  shownColumns,
  type ColumnId
} from './columns';
import { rowsCsv, rowsJson, rowsTsv, type IExport } from './exportRows';
import { opTypes, type LayerTable } from './layerTable';
import { useTrans } from '../../i18n/translateContext';

/** Filter, operator, blocks, columns and export. */
export function TableToolbar(props: {
  table: LayerTable;
  state: ITableState;
  exported: IExport;
  onChange(change: Partial<ITableState>): void;
}): JSX.Element {
  const trans = useTrans();
  const session = useSession();
  const { table, state, exported } = props;
  const { model } = useDocument();
  const types = React.useMemo(() => opTypes(table), [table]);
  const faultId = React.useId();
  const { fault, layers } = exported.view;
  const total = table.nodes.length;
  const save = (extension: string, type: string, text: string): void =>
    deliverFile(
      session,
      fileName(model.payload.model.name, `.layers.${extension}`),
      new Blob([text], { type })
    );
  return (
    <>
      <div className="oad-Tools">
        <input
          className="oad-Input"
          type="text"
          spellCheck={false}
          value={state.filter}
          placeholder={trans.__('Filter: conv, op=Conv & macs>1e6…')}
          aria-label={trans.__('Filter layers')}
          aria-invalid={fault !== null}
          aria-describedby={fault ? faultId : undefined}
          title={queryHelp(trans)}
          onChange={event =>
            props.onChange({ filter: event.currentTarget.value })
          }
        />
        <select
          className="oad-Select"
          aria-label={trans.__('Operator type')}
          value={state.op}
          onChange={event => props.onChange({ op: event.currentTarget.value })}
        >
          <option value="">{trans.__('All operators')}</option>
          {types.map(([type, count]) => (
            <option key={type} value={type}>
              {`${type} (${count})`}
            </option>
          ))}
        </select>
        <button
          type="button"
          className="oad-Toggle"
          aria-pressed={state.grouped}
          disabled={table.tree.groupCount === 0}
          title={trans.__('Group rows by block and show totals')}
          onClick={() => props.onChange({ grouped: !state.grouped })}
        >
          {trans.__('By block')}
        </button>
        <span className="oad-Quiet" role="status">
          {layers.length === total
            ? trans._n('%1 layer', '%1 layers', total)
            : trans.__(
                '%1 of %2 layers',
                formatExact(layers.length),
                formatExact(total)
              )}
        </span>
        <div className="oad-Tools-end">
          <ColumnMenu
            offered={offeredColumns(table.tree)}
            state={state}
            onChange={props.onChange}
          />
          <CopyButton
            caption={trans.__('Copy')}
            label={trans.__('Copy the rows shown, for a spreadsheet')}
            text={() => rowsTsv(exported)}
          />
          <button
            type="button"
            className="oad-Button"
            title={trans.__('Save the rows shown as CSV')}
            onClick={() => save('csv', 'text/csv', rowsCsv(exported))}
          >
            CSV
          </button>
          <button
            type="button"
            className="oad-Button"
            title={trans.__('Save the rows shown as JSON')}
            onClick={() => save('json', 'application/json', rowsJson(exported))}
          >
            JSON
          </button>
        </div>
      </div>
      {fault && (
        <p id={faultId} className="oad-Table-fault" role="status">
          {queryMessage(fault, trans)}
        </p>
      )}
    </>
  );
}

/** The menu of columns. */
function ColumnMenu(props: {
  offered: readonly ColumnId[];
  state: ITableState;
  onChange(change: Partial<ITableState>): void;
}): JSX.Element {
  const trans = useTrans();
  const menu = React.useRef<HTMLDetailsElement>(null);
  const { offered } = props;
  // Columns that are not available now keep their state.
  const visibleColumns = shownColumns(COLUMN_IDS, props.state.columns);
  React.useEffect(() => {
    const outside = (event: PointerEvent): void => {
      const { current } = menu;
      // Inside a shadow root the target is the host, so the composed path is used.
      if (current?.open && !event.composedPath().includes(current)) {
        current.open = false;
      }
    };
    document.addEventListener('pointerdown', outside);
    return () => document.removeEventListener('pointerdown', outside);
  }, []);
  const toggle = (id: ColumnId): void => {
    const next = COLUMN_IDS.filter(
      other => visibleColumns.includes(other) !== (other === id)
    );
    props.onChange({ columns: next });
  };
  return (
    <details
      ref={menu}
      className="oad-Columns"
      onKeyDown={event => {
        if (event.key === 'Escape' && menu.current?.open) {
          event.stopPropagation();
          menu.current.open = false;
          menu.current.querySelector('summary')?.focus();
        }
      }}
    >
      <summary className="oad-Button">{trans.__('Columns')}</summary>
      <div
        className="oad-Columns-list"
        role="group"
        aria-label={trans.__('Columns')}
      >
        {offered
          .filter(id => id !== 'name')
          .map(id => (
            <label key={id}>
              <input
                type="checkbox"
                checked={visibleColumns.includes(id)}
                onChange={() => toggle(id)}
              />
              {COLUMNS[id].label(trans)}
            </label>
          ))}
        <button
          type="button"
          className="oad-More"
          onClick={() => props.onChange({ columns: null })}
        >
          {trans.__('Reset columns')}
        </button>
      </div>
    </details>
  );
}
