import * as React from 'react';
import { batchOf, DeviceTimes } from '../../../core/latency/deviceTimes';
import { deviceOf, hardwareOf } from '../../../core/latency/latencyEstimate';
import type { HardwarePart } from '../../../schema';
import { useDocument, useSession, useView } from '../../session/sessionContext';
import { missingReason } from '../../summary/totalTiles';
import { chooseDevice, initialRuntime } from '../../session/deviceActions';
import type { Session } from '../../session/session';
import { Icon } from '../../ui/Icon';
import { escapeInvisible } from '../../ui/safeText';
import { rowForKey, useWindow } from '../../ui/rowWindow';
import { Fits } from '../device/Fits';
import { choiceOf, precisionText } from '../../summary/deviceText';
import { assumption } from '../../summary/latencyTile';
import { sizesText } from '../../summary/sizesText';
import {
  cellText,
  columnLabel,
  COLUMNS,
  nextSort,
  NUMERIC,
  priceTitle,
  rowsOf,
  shownRows,
  type IDeviceRow,
  type IDeviceSort
} from './deviceRows';
import { useTrans } from '../../i18n/translateContext';

interface ITableView {
  readonly query: string;
  readonly precision: string;
  readonly fitting: boolean;
  readonly sort: IDeviceSort;
}

const FIRST: ITableView = {
  query: '',
  precision: '',
  fitting: false,
  sort: { column: 'latency', descending: false }
};

/** Table state by viewer, since the tab may be closed and opened again. */
const views = new WeakMap<Session, ITableView>();

/** All devices for the current sizes; a click chooses one. */
export function DevicesPanel(): JSX.Element {
  const trans = useTrans();
  const hardware = hardwareOf(useDocument().model.payload);
  return hardware ? (
    <Devices hardware={hardware} />
  ) : (
    <p className="oad-Drawer-none">
      {trans.__('This file has no device data.')}
    </p>
  );
}

function Devices({ hardware }: { hardware: HardwarePart }): JSX.Element {
  const trans = useTrans();
  const session = useSession();
  const { model } = useDocument();
  const { payload } = model;
  const choice = useView(state => state.device);
  const chosenDevice = deviceOf(hardware, choice?.device ?? '');
  const [view, setView] = React.useState(
    () => views.get(session) ?? { ...FIRST, precision: choice?.precision ?? '' }
  );
  React.useEffect(() => void views.set(session, view), [session, view]);
  const change = (patch: Partial<ITableView>): void =>
    setView(before => ({ ...before, ...patch }));
  const { query, precision, fitting, sort } = view;
  const { runtime } = choice ?? initialRuntime(session.settings, hardware);
  // Choosing another device changes no other row: the table depends only on the sizes.
  const rows = React.useMemo(
    () =>
      rowsOf(
        hardware,
        new DeviceTimes(model, runtime),
        precision,
        batchOf(model)
      ),
    // eslint-disable-next-line react-hooks/exhaustive-deps -- a model with the same payload has the same rows
    [hardware, payload, precision, runtime]
  );
  const visibleRows = React.useMemo(
    () => shownRows(hardware, rows, query, fitting, sort),
    [hardware, rows, query, fitting, sort]
  );
  const onChoose = React.useCallback(
    (device: number): void => {
      const { store } = session;
      const { device: before } = store.get();
      const next = choiceOf(hardware, device, {
        precision,
        runtime
      });
      if (
        before?.device !== next.device ||
        before.precision !== next.precision
      ) {
        chooseDevice(session, next);
      }
    },
    [session, hardware, precision, runtime]
  );
  const unknown = rows.every(({ time }) => !(time && time.seconds >= 0));
  return (
    <div className="oad-Table oad-DeviceTable">
      <div className="oad-Tools">
        <input
          className="oad-Input"
          type="text"
          spellCheck={false}
          value={query}
          placeholder={trans.__('Name, vendor, kind…')}
          aria-label={trans.__('Filter devices')}
          onChange={event => change({ query: event.currentTarget.value })}
        />
        <select
          className="oad-Select"
          aria-label={trans.__('Precision')}
          value={precision}
          onChange={event => change({ precision: event.currentTarget.value })}
        >
          <option value="">{trans.__('As stored')}</option>
          {Object.keys(hardware.devices.peaks).map(name => (
            <option key={name} value={name}>
              {precisionText(name)}
            </option>
          ))}
        </select>
        <label className="oad-Check">
          <input
            type="checkbox"
            checked={fitting}
            onChange={event => change({ fitting: event.currentTarget.checked })}
          />
          {trans.__('Hide devices that are too small')}
        </label>
        <span className="oad-Quiet" role="status">
          {trans.__('%1 of %2 devices', visibleRows.length, rows.length)}
        </span>
        <span className="oad-Quiet oad-DeviceTable-about">
          {[sizesText(payload, trans), assumption(trans, model.latency)]
            .filter(Boolean)
            .join(' · ')}
        </span>
      </div>
      {unknown && (
        <p className="oad-Table-fault">{missingReason(payload, trans)}</p>
      )}
      <Grid
        rows={visibleRows}
        {...{ hardware, chosenDevice, precision, sort, onChoose }}
        chosenPrecision={choice?.precision ?? ''}
        onSort={next => change({ sort: next })}
      />
    </div>
  );
}

interface IGridProps {
  readonly hardware: HardwarePart;
  readonly rows: readonly IDeviceRow[];
  readonly chosenDevice: number;
  readonly chosenPrecision: string;
  readonly precision: string;
  readonly sort: IDeviceSort;
  onChoose(device: number): void;
  onSort(sort: IDeviceSort): void;
}

/** Height of a row and of the header, as in the style sheet. */
const ROW = 24;

/** The visible rows. A single Tab stop: arrow keys move between rows. */
function Grid(props: IGridProps): JSX.Element {
  const trans = useTrans();
  const { rows, chosenDevice, chosenPrecision, precision } = props;
  const scroller = React.useRef<HTMLDivElement>(null);
  const { first, end, page, scrollTo } = useWindow(
    scroller,
    rows.length,
    ROW,
    ROW
  );
  const [stop, setStop] = React.useState(-1);
  const stopRow = rows.findIndex(
    ({ device }) => device === (stop < 0 ? chosenDevice : stop)
  );
  // A tab stop that is scrolled away cannot be reached: the first visible row replaces it.
  const tabStop = stopRow >= first && stopRow < end ? stopRow : first;
  const shouldFocus = React.useRef(false);
  React.useEffect(() => {
    if (shouldFocus.current) {
      shouldFocus.current = false;
      scroller.current
        ?.querySelector<HTMLElement>('tbody button[tabindex="0"]')
        ?.focus();
    }
  });
  const onKeyDown = (event: React.KeyboardEvent<HTMLElement>): void => {
    const next = rowForKey(event.key, tabStop, rows.length, page);
    if (next === null || rows.length === 0) {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    shouldFocus.current = true;
    scrollTo(next);
    setStop(rows[next].device);
  };
  const isTaken = ({ device, time }: IDeviceRow): boolean =>
    device === chosenDevice &&
    (chosenPrecision || time?.precision) === (precision || time?.precision);
  return (
    <div ref={scroller} className="oad-Scroll">
      <table aria-label={trans.__('Devices')} aria-rowcount={rows.length + 1}>
        <colgroup>
          {COLUMNS.map(column => (
            <col key={column} data-column={column} />
          ))}
        </colgroup>
        <Head sort={props.sort} onSort={props.onSort} />
        <tbody onKeyDown={onKeyDown}>
          <SpacerRow rows={first} />
          {rows.slice(first, end).map((row, index) => (
            <Row
              key={row.device}
              {...{ row, precision }}
              hardware={props.hardware}
              index={first + index + 2}
              isChosen={isTaken(row)}
              isStop={first + index === tabStop}
              onChoose={props.onChoose}
            />
          ))}
          <SpacerRow rows={rows.length - end} />
        </tbody>
      </table>
      {rows.length === 0 && (
        <p className="oad-Table-none">{trans.__('No matching devices.')}</p>
      )}
    </div>
  );
}

/** Replaces rows that are not in view. */
function SpacerRow({ rows }: { rows: number }): JSX.Element | null {
  return rows > 0 ? (
    <tr aria-hidden="true" style={{ height: rows * ROW }} />
  ) : null;
}

function Head(props: {
  sort: IDeviceSort;
  onSort(sort: IDeviceSort): void;
}): JSX.Element {
  const trans = useTrans();
  const { sort } = props;
  return (
    <thead>
      <tr>
        {COLUMNS.map(column => {
          const label = columnLabel(column, trans);
          const { descending } = sort;
          const isSorted = sort.column === column;
          return (
            <th
              key={column}
              scope="col"
              className={NUMERIC.has(column) ? 'oad-mod-number' : undefined}
              aria-sort={
                !isSorted ? 'none' : descending ? 'descending' : 'ascending'
              }
            >
              <button
                type="button"
                title={trans.__('Sort by %1', label)}
                onClick={() => props.onSort(nextSort(sort, column))}
              >
                <span>{label}</span>
                {isSorted && (
                  <Icon name={descending ? 'down' : 'up'} size={12} />
                )}
              </button>
            </th>
          );
        })}
      </tr>
    </thead>
  );
}

const Row = React.memo(DeviceRow);

function DeviceRow(props: {
  row: IDeviceRow;
  hardware: HardwarePart;
  index: number;
  precision: string;
  isChosen: boolean;
  isStop: boolean;
  onChoose(device: number): void;
}): JSX.Element {
  const trans = useTrans();
  const { row, hardware, precision, isChosen } = props;
  const text = (column: Exclude<(typeof COLUMNS)[number], 'fits'>): string =>
    cellText(hardware, row, column, precision, trans);
  return (
    <tr
      aria-rowindex={props.index}
      data-chosen={isChosen ? '' : undefined}
      data-small={row.fits === false ? '' : undefined}
      onClick={() => props.onChoose(row.device)}
    >
      {COLUMNS.map(column =>
        column === 'name' ? (
          <th key={column} scope="row">
            <button
              type="button"
              tabIndex={props.isStop ? 0 : -1}
              aria-pressed={isChosen}
              title={escapeInvisible(text(column))}
            >
              <bdi>{escapeInvisible(text(column))}</bdi>
            </button>
          </th>
        ) : column === 'fits' ? (
          <td key={column}>
            {row.time && <Fits fits={row.fits} title={text('memory')} />}
          </td>
        ) : (
          <td
            key={column}
            className={NUMERIC.has(column) ? 'oad-mod-number' : undefined}
            title={
              column === 'price' || column === 'cost'
                ? priceTitle(row, trans)
                : undefined
            }
          >
            {text(column)}
          </td>
        )
      )}
    </tr>
  );
}
