import * as React from 'react';
import type { ISortKey } from '../../state/tableState';
import { Icon } from '../../ui/Icon';
import { COLUMNS, isNumeric, type ColumnId, type ITableGrid } from './columns';
import { useTrans } from '../../i18n/translateContext';

/**
 * The sort order after a click on a column header: best first, then reversed, then unsorted. With `add`,
 * previously clicked columns keep priority.
 */
export function nextSort(
  sort: readonly ISortKey[],
  column: ColumnId,
  add: boolean
): readonly ISortKey[] {
  const first = { column, descending: isNumeric(column) };
  const index = sort.findIndex(key => key.column === column);
  if (index < 0 || (!add && sort.length > 1)) {
    return add ? [...sort, first] : [first];
  }
  const reversed = { column, descending: !first.descending };
  const next = sort[index].descending === first.descending ? [reversed] : [];
  return [...sort.slice(0, index), ...next, ...sort.slice(index + 1)];
}

export function Header(props: {
  grid: ITableGrid;
  sort: readonly ISortKey[];
  onSort(sort: readonly ISortKey[]): void;
}): JSX.Element {
  const trans = useTrans();
  const { sort, grid } = props;
  return (
    <div className="oad-Grid-head" role="row" aria-rowindex={1}>
      {grid.positions.map(({ id, style }) => {
        const index = sort.findIndex(key => key.column === id);
        const label = COLUMNS[id].label(trans);
        const descending = sort[index]?.descending;
        return (
          <div
            key={id}
            role="columnheader"
            className={isNumeric(id) ? 'oad-mod-number' : undefined}
            style={style}
            aria-label={label}
            aria-sort={
              index < 0 ? 'none' : descending ? 'descending' : 'ascending'
            }
          >
            <button
              type="button"
              title={trans.__(
                'Sort by %1 (Shift+click: add to the current sort)',
                label
              )}
              onClick={event =>
                props.onSort(nextSort(sort, id, event.shiftKey))
              }
            >
              <span>{label}</span>
              {index >= 0 && (
                <Icon name={descending ? 'down' : 'up'} size={12} />
              )}
              {index >= 0 && sort.length > 1 && <small>{index + 1}</small>}
            </button>
          </div>
        );
      })}
    </div>
  );
}
