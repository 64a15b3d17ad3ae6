import * as React from 'react';
import { formatExact } from '../../core';
import { useDocument, useSession, useTrans, useView } from '../context';
import type { ITableState } from '../state/types';
import { CopyButton } from '../ui/CopyButton';
import { moveOf, useWindow } from '../ui/virtual';
import { GRID_TEMPLATE } from './columns';
import { Header } from './Header';
import { LayerRow, TotalsRow } from './Row';
import { LayerTable, opTypes, tableCsv, tableTotals } from './rows';

const ROW = 24;
/** Header above and totals below, both always visible. */
const INSET = 2 * ROW + 8;

/** Every layer with its numbers; linked with the graph both ways. */
export function LayersTable(): JSX.Element {
  const { tree, model } = useDocument();
  const session = useSession();
  const trans = useTrans();
  const state = useView(view => view.table);
  const selection = useView(view => view.selection);
  const deferred = React.useDeferredValue(state);
  const table = React.useMemo(() => new LayerTable(tree), [tree]);
  const rows = React.useMemo(() => table.rows(deferred), [table, deferred]);
  const all = React.useMemo(
    () => tableTotals(model, table.nodes),
    [model, table]
  );
  const totals = React.useMemo(() => tableTotals(model, rows), [model, rows]);
  const current = selection.kind === 'node' ? selection.id : -1;
  const at = React.useMemo(() => rows.indexOf(current), [rows, current]);
  const scroller = React.useRef<HTMLDivElement>(null);
  const id = React.useId();
  const view = useWindow(scroller, rows.length, ROW, INSET);
  React.useEffect(() => view.scrollTo(at), [at, view.scrollTo]);
  const setTable = (change: Partial<ITableState>): void =>
    session.store.set({ table: { ...state, ...change } });
  const onKeyDown = (event: React.KeyboardEvent): void => {
    // Keys in the header sort; keys in the body move.
    if (event.target !== event.currentTarget) {
      return;
    }
    const moved = moveOf(event.key, at, rows.length, view.page);
    if (moved !== null && rows.length > 0) {
      session.select({ kind: 'node', id: rows[moved] }, 'focus');
    } else if (event.key === 'Enter' && !event.altKey && current >= 0) {
      session.select(selection, 'reveal');
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  };
  const shown = Array.from(rows.subarray(view.first, view.end));
  return (
    <div className="oad-Table">
      <TableTools
        table={table}
        state={state}
        onChange={setTable}
        shown={rows.length}
        total={all.count}
        csv={() => tableCsv(table, rows)}
      />
      <div
        ref={scroller}
        className="oad-Grid"
        role="grid"
        tabIndex={0}
        aria-label={trans.__('Layers')}
        aria-rowcount={rows.length + 2}
        aria-activedescendant={
          at >= view.first && at < view.end ? `${id}${current}` : undefined
        }
        onKeyDown={onKeyDown}
        style={{ '--oad-columns': GRID_TEMPLATE } as React.CSSProperties}
      >
        <Header state={state} onChange={setTable} />
        <div
          className="oad-Spacer"
          role="rowgroup"
          style={{ height: rows.length * ROW }}
        >
          {shown.map((node, index) => (
            <LayerRow
              key={node}
              id={`${id}${node}`}
              node={node}
              row={view.first + index}
              top={(view.first + index) * ROW}
              table={table}
              totals={all}
              selected={node === current}
              onSelect={() =>
                session.select({ kind: 'node', id: node }, 'reveal')
              }
            />
          ))}
        </div>
        {rows.length === 0 && (
          <p className="oad-Quiet oad-Table-none">
            {trans.__('No layer matches the filter.')}
          </p>
        )}
        <TotalsRow totals={totals} all={all} row={rows.length + 2} />
      </div>
    </div>
  );
}

function TableTools(props: {
  table: LayerTable;
  state: ITableState;
  onChange(change: Partial<ITableState>): void;
  shown: number;
  total: number;
  csv(): string;
}): JSX.Element {
  const trans = useTrans();
  const { table, state, shown, total } = props;
  const types = React.useMemo(() => opTypes(table), [table]);
  return (
    <div className="oad-Tools">
      <input
        className="oad-Input"
        type="text"
        spellCheck={false}
        value={state.filter}
        placeholder={trans.__('Filter layers…')}
        aria-label={trans.__('Filter layers')}
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
      <span className="oad-Quiet" role="status">
        {shown === total
          ? trans._n('%1 layer', '%1 layers', total)
          : trans.__('%1 of %2 layers', formatExact(shown), formatExact(total))}
      </span>
      <span className="oad-Bar-gap" />
      <CopyButton
        caption={trans.__('Copy CSV')}
        label={trans.__('Copy the rows shown, as CSV')}
        text={props.csv}
      />
    </div>
  );
}
