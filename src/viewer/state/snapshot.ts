/** The stored state of a view, and its validation when read. */

import { SCALE_MODES, type ScaleMode } from '../../core/base/colorScale';
import {
  FLOWS,
  type Flow,
  type IRowWidth,
  type IDeviceChoice
} from '../../core/types';
import { isOverlayId, type OverlayId } from '../overlays';
import type { ICamera } from '../graph/surfaceApi';
import type {
  IBookmark,
  IPanels,
  ITableState,
  PanelMode,
  IHiddenRecord
} from './types';
import { readTable } from './tableState';
import { DEFAULT_PANELS, DRAWER_TABS } from './types';
import {
  MAX_SELECTION_RECORDS,
  type ISelectionRecord
} from './selectionRecords';

export const SNAPSHOT_VERSION = 1;

/** Longer lists were not written by a view and are rejected. */
const MAX_ITEMS = 20_000;

/** All fields are optional; missing ones keep their default. */
export interface ISnapshot {
  readonly version: number;
  readonly overlay?: OverlayId | null;
  readonly device?: IDeviceChoice | null;
  readonly scale?: ScaleMode;
  readonly showNames?: boolean;
  readonly showWeights?: boolean;
  readonly direction?: Flow;
  /** Rows of the graph that the camera applies to; null for one row. */
  readonly rows?: IRowWidth | null;
  readonly panels?: IPanels;
  readonly table?: ITableState;
  readonly bindings?: Readonly<Record<string, number>>;
  readonly assume?: boolean;
  readonly bookmarks?: Readonly<Record<string, IBookmark>>;
  readonly selection?: ISelectionRecord;
  /** Additional selected entities. */
  readonly also?: readonly ISelectionRecord[];
  /** Paths of the open groups. */
  readonly open?: readonly string[];
  readonly camera?: ICamera;
  readonly hidden?: IHiddenRecord;
}

type Fields = Readonly<Record<string, unknown>>;

function fields(value: unknown): Fields | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Fields)
    : null;
}

function finite(value: unknown, low: number, high: number): number | undefined {
  return typeof value === 'number' && value >= low && value <= high
    ? value
    : undefined;
}

function flag(value: unknown): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value.length <= 10_000
    ? value
    : undefined;
}

function mode(value: unknown): PanelMode {
  return value === 'open' || value === 'closed' ? value : 'auto';
}

function camera(value: unknown): ICamera | undefined {
  const raw = fields(value);
  const x = finite(raw?.x, -1e9, 1e9);
  const y = finite(raw?.y, -1e9, 1e9);
  const k = finite(raw?.k, 1e-6, 1e3);
  return x === undefined || y === undefined || k === undefined
    ? undefined
    : { x, y, k };
}

function panels(value: unknown): IPanels | undefined {
  const raw = fields(value);
  if (raw === null) {
    return undefined;
  }
  const width = (key: keyof IPanels, fallback: number): number =>
    finite(raw[key], 80, 2000) ?? fallback;
  return {
    outline: mode(raw.outline),
    inspector: mode(raw.inspector),
    drawer: flag(raw.drawer) ?? false,
    tab: DRAWER_TABS.find(tab => tab === raw.tab) ?? DEFAULT_PANELS.tab,
    outlineWidth: width('outlineWidth', DEFAULT_PANELS.outlineWidth),
    inspectorWidth: width('inspectorWidth', DEFAULT_PANELS.inspectorWidth),
    drawerHeight: width('drawerHeight', DEFAULT_PANELS.drawerHeight)
  };
}

/** Entries whose value `read` accepts. */
function entries<V>(
  value: unknown,
  read: (value: unknown) => V | undefined
): Record<string, V> | undefined {
  const raw = fields(value);
  if (raw === null) {
    return undefined;
  }
  const valid = Object.entries(raw).flatMap(([key, item]) => {
    const parsed = read(item);
    return parsed === undefined ? [] : [[key, parsed] as const];
  });
  return Object.fromEntries(valid);
}

export function isBinding(value: unknown): value is number {
  return Number.isInteger(value) && finite(value, 0, 2 ** 31) !== undefined;
}

function selection(value: unknown): ISelectionRecord | undefined {
  const raw = fields(value);
  const kind = (['node', 'group', 'tensor', 'series'] as const).find(
    kind => kind === raw?.kind
  );
  const id = finite(raw?.id, 0, 2 ** 31);
  return kind === undefined || id === undefined
    ? undefined
    : { kind, id, name: text(raw?.name) ?? '' };
}

function readSelectionRecords(value: unknown): ISelectionRecord[] | undefined {
  return Array.isArray(value)
    ? value
        .slice(0, MAX_SELECTION_RECORDS)
        .flatMap(item => selection(item) ?? [])
    : undefined;
}

function strings(value: unknown): string[] | undefined {
  return Array.isArray(value)
    ? value
        .slice(0, MAX_ITEMS)
        .filter((item): item is string => text(item) !== undefined)
    : undefined;
}

function overlay(value: unknown): OverlayId | null | undefined {
  return value === null || (isOverlayId(value) && value !== 'changes')
    ? value
    : undefined;
}

/** Maximum length of a device id. */
const MAX_ID_CHARS = 200;

function device(value: unknown): IDeviceChoice | null | undefined {
  const raw = fields(value);
  const [id, precision] = [text(raw?.device), text(raw?.precision) ?? ''];
  const runtime = text(raw?.runtime) ?? '';
  const length = precision.length + runtime.length;
  const choice = { precision, ...(runtime ? { runtime } : {}) };
  return value === null
    ? null
    : id && id.length + length <= MAX_ID_CHARS
      ? { device: id, ...choice }
      : undefined;
}

function direction(value: unknown): Flow | undefined {
  return FLOWS.find(flow => flow === value);
}

function rows(value: unknown): IRowWidth | null | undefined {
  const raw = fields(value);
  const room = finite(raw?.room, 50, 1e9);
  const beside = finite(raw?.beside, 0, 1);
  const sound = room !== undefined && beside !== undefined;
  const compact = flag(raw?.compact) === true && { compact: true };
  return value === null
    ? null
    : sound
      ? { room, beside, ...compact }
      : undefined;
}

/** Earlier snapshots had a flag for the logarithmic scale. */
function scale(raw: Fields): ScaleMode | undefined {
  const logScale = flag(raw.logScale);
  return (
    SCALE_MODES.find(mode => mode === raw.scale) ??
    (logScale === undefined ? undefined : logScale ? 'log' : 'linear')
  );
}

function bookmark(value: unknown): IBookmark | undefined {
  const parsed = camera(value);
  const raw = fields(value);
  if (parsed === undefined || raw === null) {
    return undefined;
  }
  const open = strings(raw.open);
  const painted = overlay(raw.overlay);
  const timed = device(raw.device);
  const flow = direction(raw.direction);
  const wide = rows(raw.rows);
  const left = hidden(raw.hidden);
  const colours = scale(raw);
  return {
    ...parsed,
    ...(left && { hidden: left }),
    ...(colours && { scale: colours }),
    ...(flow && { direction: flow }),
    ...(wide !== undefined && { rows: wide }),
    ...(open && { open }),
    ...(painted !== undefined && { overlay: painted }),
    ...(timed !== undefined && { device: timed })
  };
}

/** Ascending pairs of ids; undefined if invalid. */
function hidden(value: unknown): IHiddenRecord | undefined {
  const raw = fields(value);
  const of = text(raw?.of);
  const ranges = raw?.ranges;
  const sound =
    Array.isArray(ranges) &&
    ranges.length % 2 === 0 &&
    ranges.length <= MAX_ITEMS &&
    ranges.every(
      (id: unknown, i) =>
        Number.isInteger(id) &&
        finite(id, 0, 2 ** 31) !== undefined &&
        (i === 0 || (id as number) >= (ranges[i - 1] as number))
    );
  return of !== undefined && sound
    ? { of, ranges: ranges as number[] }
    : undefined;
}

/** Reads a stored snapshot, ignoring invalid parts. Never throws. */
export function readSnapshot(value: unknown): ISnapshot {
  const raw = fields(value);
  if (raw === null || raw.version !== SNAPSHOT_VERSION) {
    return { version: SNAPSHOT_VERSION };
  }
  const snapshot: ISnapshot = {
    version: SNAPSHOT_VERSION,
    overlay: overlay(raw.overlay),
    device: device(raw.device),
    scale: scale(raw),
    showNames: flag(raw.showNames),
    showWeights: flag(raw.showWeights),
    direction: direction(raw.direction),
    rows: rows(raw.rows),
    panels: panels(raw.panels),
    table: readTable(raw.table),
    bindings: entries(raw.bindings, item =>
      isBinding(item) ? item : undefined
    ),
    assume: flag(raw.assume),
    bookmarks: entries(raw.bookmarks, bookmark),
    selection: selection(raw.selection),
    also: readSelectionRecords(raw.also),
    open: strings(raw.open),
    camera: camera(raw.camera),
    hidden: hidden(raw.hidden)
  };
  return Object.fromEntries(
    Object.entries(snapshot).filter(([, value]) => value !== undefined)
  ) as unknown as ISnapshot;
}
