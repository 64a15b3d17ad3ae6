/** State of the layer table, part of the view's state and snapshot. */

/** A column that rows are sorted by. */
export interface ISortKey {
  readonly column: string;
  readonly descending: boolean;
}

export interface ITableState {
  /** In order of priority; none means graph order. */
  readonly sort: readonly ISortKey[];
  /** Words and conditions, see `core/query/queryParser.ts`. */
  readonly filter: string;
  /** Operator type; empty for all. */
  readonly op: string;
  /** Rows are blocks with their sums, which can be expanded. */
  readonly grouped: boolean;
  /** Columns to show; null for the default ones. */
  readonly columns: readonly string[] | null;
}

export const DEFAULT_TABLE: ITableState = {
  sort: [],
  filter: '',
  op: '',
  grouped: false,
  columns: null
};

/** More than the number of columns. */
const MAX_COLUMNS = 64;

function text(value: unknown): string {
  return typeof value === 'string' && value.length <= 10_000 ? value : '';
}

function sortKeys(raw: Readonly<Record<string, unknown>>): ISortKey[] {
  const { sort, descending } = raw;
  if (typeof sort === 'string') {
    // Earlier snapshots had one column.
    const column = text(sort);
    return column ? [{ column, descending: descending !== false }] : [];
  }
  return (Array.isArray(sort) ? (sort as unknown[]) : [])
    .slice(0, MAX_COLUMNS)
    .flatMap(item => {
      const key = (
        typeof item === 'object' && item !== null ? item : {}
      ) as Partial<Record<keyof ISortKey, unknown>>;
      const column = text(key.column);
      return column ? [{ column, descending: key.descending === true }] : [];
    });
}

/** Reads a stored state; invalid parts get their default. Undefined if it is not an object. */
export function readTable(value: unknown): ITableState | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return undefined;
  }
  const raw = value as Readonly<Record<string, unknown>>;
  const { columns } = raw;
  return {
    sort: sortKeys(raw),
    filter: text(raw.filter),
    op: text(raw.op),
    grouped: raw.grouped === true,
    columns: Array.isArray(columns)
      ? (columns as unknown[])
          .slice(0, MAX_COLUMNS)
          .map(text)
          .filter(id => id)
      : null
  };
}
