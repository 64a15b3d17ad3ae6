import * as React from 'react';
import { useDocument, useSession, useView } from '../../session/sessionContext';
import { entityOf, selectionOf } from '../../session/entityNames';
import type { Session } from '../../session/session';
import type { ITableState } from '../../state/tableState';
import type { ITree } from '../../../core/types';
import { rowForKey, useWindow } from '../../ui/rowWindow';
import { gridOf, offeredColumns, shownColumns, type ColumnId } from './columns';
import { Header } from './Header';
import { TableRow, TotalsRow } from './Row';
import { LayerTable } from './layerTable';
import { TableToolbar } from './TableToolbar';
import { useTrans } from '../../i18n/translateContext';

const ROW = 24;
/** Header and totals row, both always visible. */
const INSET = 2 * ROW + 8;
const NONE_OPEN: ReadonlySet<number> = new Set();

/** Adds an entity to the selection or removes it. */
function toggleEntity(session: Session, entity: number): void {
  const { document, selection, moreSelected } = session.store.get();
  if (!document) {
    return;
  }
  const first = entityOf(document.model, selection);
  if (first === null) {
    session.select(selectionOf(document.model, entity));
  } else if (moreSelected.includes(entity)) {
    session.store.set({
      moreSelected: moreSelected.filter(other => other !== entity)
    });
  } else if (entity !== first) {
    session.store.set({ moreSelected: [...moreSelected, entity] });
  } else if (moreSelected.length > 0) {
    session.select(selectionOf(document.model, moreSelected[0]));
    session.store.set({ moreSelected: moreSelected.slice(1) });
  }
}

/** The groups that contain everything: a table with these collapsed would show nothing. */
function outerGroups({ children, model }: ITree): ReadonlySet<number> {
  const open = new Set<number>();
  let inside = children[0];
  while (inside.length === 1 && inside[0] >= model.nodeCount) {
    const group = inside[0] - model.nodeCount;
    open.add(group);
    inside = children[group + 1];
  }
  return open;
}

/** The expanded groups; selecting an entity expands the groups around it. */
function useOpenBlocks(current: number | null): {
  open: ReadonlySet<number>;
  toggle(group: number): void;
} {
  const { tree } = useDocument();
  const [open, setOpen] = React.useState(() => outerGroups(tree));
  // The same file at other sizes has the same blocks.
  const file = `${tree.model.payload.model.identity} ${tree.groupCount}`;
  const present = React.useRef(tree);
  present.current = tree;
  React.useEffect(() => setOpen(outerGroups(present.current)), [file]);
  React.useEffect(() => {
    if (current === null) {
      return;
    }
    const { nodeCount } = tree.model;
    const above: number[] = [];
    let group =
      current < nodeCount
        ? tree.nodeParent[current]
        : tree.groupParent[current - nodeCount];
    for (; group >= 0; group = tree.groupParent[group]) {
      above.push(group);
    }
    setOpen(before =>
      above.every(id => before.has(id))
        ? before
        : new Set([...before, ...above])
    );
  }, [tree, current]);
  const toggle = React.useCallback(
    (group: number) =>
      setOpen(before => {
        const after = new Set(before);
        if (!after.delete(group)) {
          after.add(group);
        }
        return after;
      }),
    []
  );
  return { open, toggle };
}

/** All layers, or all blocks, with their numbers; linked with the graph in both directions. */
export function LayersTable(): JSX.Element {
  const { tree, model } = useDocument();
  const session = useSession();
  const trans = useTrans();
  const state = useView(view => view.table);
  const selection = useView(view => view.selection);
  const moreSelected = useView(view => view.moreSelected);
  const selected = entityOf(model, selection);
  const { open, toggle } = useOpenBlocks(selected);
  const deferred = React.useDeferredValue(state);
  const table = React.useMemo(() => new LayerTable(tree), [tree]);
  const shownOpen = deferred.grouped ? open : NONE_OPEN;
  const view = React.useMemo(
    () => table.view(deferred, shownOpen),
    [table, deferred, shownOpen]
  );
  const columns = React.useMemo(
    () => shownColumns(offeredColumns(tree), state.columns),
    [tree, state.columns]
  );
  // The same object for all trees, as long as the columns do not change.
  const names = columns.join(' ');
  const grid = React.useMemo(
    () => gridOf(names.split(' ') as ColumnId[]),
    [names]
  );
  const rows = view.entities;
  // The keyboard's row: the selection, unless Ctrl moved on from it.
  const [focusedRow, setFocusedRow] = React.useState<number | null>(null);
  React.useEffect(() => setFocusedRow(null), [selected, tree]);
  const current = focusedRow ?? selected ?? -1;
  const currentIndex = React.useMemo(
    () => rows.indexOf(current),
    [rows, current]
  );
  const scroller = React.useRef<HTMLDivElement>(null);
  const id = React.useId();
  const frame = useWindow(scroller, rows.length, ROW, INSET);
  const { scrollTo } = frame;
  React.useEffect(() => scrollTo(currentIndex), [currentIndex, scrollTo]);
  const setTable = (change: Partial<ITableState>): void =>
    session.store.set({ table: { ...session.store.get().table, ...change } });
  const isOpen = (entity: number): boolean | undefined =>
    table.isGroup(entity) ? open.has(entity - model.nodeCount) : undefined;

  /** Returns true if the table handled the key. */
  const press = (event: React.KeyboardEvent): boolean => {
    const next = rowForKey(event.key, currentIndex, rows.length, frame.page);
    if (next !== null && rows.length > 0) {
      const entity = rows[next];
      if (event.ctrlKey || event.metaKey) {
        setFocusedRow(entity);
      } else if (event.shiftKey && selected !== null) {
        if (entity !== selected && !moreSelected.includes(entity)) {
          toggleEntity(session, entity);
        }
        setFocusedRow(entity);
      } else {
        setFocusedRow(null);
        session.select(selectionOf(model, entity), 'focus');
      }
      return true;
    }
    if (currentIndex < 0 || event.altKey) {
      return false;
    }
    const opened = isOpen(current);
    switch (event.key) {
      case ' ':
        toggleEntity(session, current);
        return true;
      case 'Enter':
        session.select(selectionOf(model, current), 'reveal');
        return true;
      case 'ArrowRight':
      case 'ArrowLeft':
        if (opened !== undefined && opened === (event.key === 'ArrowLeft')) {
          toggle(current - model.nodeCount);
        }
        return state.grouped;
      default:
        return false;
    }
  };
  const onToggle = React.useCallback(
    (entity: number) => toggle(entity - model.nodeCount),
    [toggle, model]
  );
  const onSelect = React.useCallback(
    (entity: number, additive: boolean) => {
      setFocusedRow(null);
      if (additive) {
        toggleEntity(session, entity);
      } else {
        session.select(selectionOf(model, entity), 'reveal');
      }
    },
    [session, model]
  );
  const visible = Array.from(rows.subarray(frame.first, frame.end));
  const style = {
    '--oad-grid-width': `${grid.width}px`
  } as React.CSSProperties;
  return (
    <div className="oad-Table">
      <TableToolbar
        table={table}
        state={state}
        onChange={setTable}
        exported={{ table, view, columns }}
      />
      <div
        ref={scroller}
        className="oad-Grid"
        role={state.grouped ? 'treegrid' : 'grid'}
        tabIndex={0}
        aria-label={trans.__('Layers')}
        aria-multiselectable
        aria-rowcount={rows.length + 2}
        aria-activedescendant={
          currentIndex >= frame.first && currentIndex < frame.end
            ? `${id}${current}`
            : undefined
        }
        onKeyDown={event => {
          // Keys in the header sort; keys in the body move.
          if (event.target === event.currentTarget && press(event)) {
            event.preventDefault();
            event.stopPropagation();
          }
        }}
        style={style}
      >
        <Header
          grid={grid}
          sort={state.sort}
          onSort={sort => setTable({ sort })}
        />
        <div
          className="oad-Spacer"
          role="rowgroup"
          style={{ height: rows.length * ROW }}
        >
          {visible.map((entity, index) => (
            <TableRow
              key={entity}
              id={`${id}${entity}`}
              row={frame.first + index}
              top={(frame.first + index) * ROW}
              table={table}
              view={view}
              grid={grid}
              selected={entity === selected || moreSelected.includes(entity)}
              cursor={entity === focusedRow}
              open={isOpen(entity)}
              onToggle={onToggle}
              onSelect={onSelect}
            />
          ))}
        </div>
        {rows.length === 0 && (
          <p className="oad-Quiet oad-Table-none">
            {trans.__('No layer matches the filter.')}
          </p>
        )}
        <TotalsRow
          table={table}
          view={view}
          grid={grid}
          row={rows.length + 2}
        />
      </div>
    </div>
  );
}
