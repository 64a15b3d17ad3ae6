/** What is remembered of a view between sessions, and reading it back without trust. */

import { isOverlayId, type OverlayId } from '../overlays';
import type { ICamera } from '../graph/api';
import type { ISelectionRecord } from '../session/entities';
import type { IPanels, ITableState, PanelMode } from './types';
import { DEFAULT_PANELS, DRAWER_TABS } from './types';

export const SNAPSHOT_VERSION = 1;

/** All parts are optional: what is missing keeps its default. */
export interface ISnapshot {
  readonly version: number;
  readonly overlay?: OverlayId | null;
  readonly logScale?: boolean;
  readonly showNames?: boolean;
  readonly showWeights?: boolean;
  readonly panels?: IPanels;
  readonly table?: ITableState;
  readonly bindings?: Readonly<Record<string, number>>;
  readonly assume?: boolean;
  readonly bookmarks?: Readonly<Record<string, ICamera>>;
  readonly selection?: ISelectionRecord;
  /** Paths of the open groups. */
  readonly open?: readonly string[];
  readonly camera?: ICamera;
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

function table(value: unknown): ITableState | undefined {
  const raw = fields(value);
  return raw === null
    ? undefined
    : {
        sort: text(raw.sort) ?? '',
        descending: flag(raw.descending) ?? true,
        filter: text(raw.filter) ?? '',
        op: text(raw.op) ?? ''
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
  const kept = Object.entries(raw).flatMap(([key, item]) => {
    const good = read(item);
    return good === undefined ? [] : [[key, good] as const];
  });
  return Object.fromEntries(kept);
}

export function isBinding(value: unknown): value is number {
  return Number.isInteger(value) && finite(value, 1, 2 ** 31) !== undefined;
}

function selection(value: unknown): ISelectionRecord | undefined {
  const raw = fields(value);
  const kind = (['node', 'group', 'tensor'] as const).find(
    known => known === raw?.kind
  );
  const id = finite(raw?.id, 0, 2 ** 31);
  return kind === undefined || id === undefined
    ? undefined
    : { kind, id, name: text(raw?.name) ?? '' };
}

function strings(value: unknown): string[] | undefined {
  return Array.isArray(value)
    ? value.filter((item): item is string => text(item) !== undefined)
    : undefined;
}

/** Reads a stored snapshot; anything odd in it is left out. Never throws. */
export function readSnapshot(value: unknown): ISnapshot {
  const raw = fields(value);
  if (raw === null || raw.version !== SNAPSHOT_VERSION) {
    return { version: SNAPSHOT_VERSION };
  }
  const whole: ISnapshot = {
    version: SNAPSHOT_VERSION,
    overlay:
      raw.overlay === null || isOverlayId(raw.overlay)
        ? raw.overlay
        : undefined,
    logScale: flag(raw.logScale),
    showNames: flag(raw.showNames),
    showWeights: flag(raw.showWeights),
    panels: panels(raw.panels),
    table: table(raw.table),
    bindings: entries(raw.bindings, item =>
      isBinding(item) ? item : undefined
    ),
    assume: flag(raw.assume),
    bookmarks: entries(raw.bookmarks, camera),
    selection: selection(raw.selection),
    open: strings(raw.open),
    camera: camera(raw.camera)
  };
  return Object.fromEntries(
    Object.entries(whole).filter(([, part]) => part !== undefined)
  ) as unknown as ISnapshot;
}
