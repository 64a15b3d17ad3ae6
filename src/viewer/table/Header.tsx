import * as React from 'react';
import { useTrans } from '../context';
import type { ITableState } from '../state/types';
import { Icon } from '../ui/Icon';
import { COLUMNS } from './columns';
import { isNumeric, type ColumnId } from './rows';

/** What a click on a column's head asks for: best first, then the other way, then graph order. */
export function nextSort(
  state: ITableState,
  column: ColumnId
): Pick<ITableState, 'sort' | 'descending'> {
  const first = isNumeric(column);
  if (state.sort !== column) {
    return { sort: column, descending: first };
  }
  return state.descending === first
    ? { sort: column, descending: !first }
    : { sort: '', descending: true };
}

export function Header(props: {
  state: ITableState;
  onChange(change: Partial<ITableState>): void;
}): JSX.Element {
  const trans = useTrans();
  const { state } = props;
  return (
    <div className="oad-Grid-head" role="row" aria-rowindex={1}>
      {COLUMNS.map(column => {
        const sorted = state.sort === column.id;
        return (
          <div
            key={column.id}
            role="columnheader"
            className={isNumeric(column.id) ? 'oad-mod-number' : undefined}
            aria-sort={
              sorted ? (state.descending ? 'descending' : 'ascending') : 'none'
            }
          >
            <button
              type="button"
              title={trans.__('Sort by %1', column.label(trans))}
              onClick={() => props.onChange(nextSort(state, column.id))}
            >
              <span>{column.label(trans)}</span>
              {sorted && (
                <Icon name={state.descending ? 'down' : 'up'} size={12} />
              )}
            </button>
          </div>
        );
      })}
    </div>
  );
}
