import type { IViewerSettings } from '../api';
import { DEFAULT_TABLE } from './table';
import type { IViewerState } from './types';
import { DEFAULT_PANELS, NOTHING, NO_SEARCH } from './types';

/** The ends of a brush are numbers of what was painted: they say nothing of another. */
export function withoutForeignBrush(
  before: IViewerState,
  next: IViewerState
): IViewerState {
  return next.overlay !== before.overlay && next.brush === before.brush
    ? { ...next, brush: null }
    : next;
}

/** The state of a new view, before anything is loaded. */
export function initialState(settings: IViewerSettings): IViewerState {
  return {
    load: { status: 'loading', progress: { phase: '', done: 0, total: 0 } },
    laying: null,
    document: null,
    selection: NOTHING,
    also: [],
    back: [],
    forward: [],
    hidden: [],
    trace: null,
    menu: null,
    overlay: null,
    device: null,
    choosing: false,
    userValues: 0,
    scale: settings.logScale ? 'log' : 'linear',
    brush: null,
    range: null,
    dark: false,
    pictureLook: 'page',
    showNames: settings.showNames,
    showWeights: settings.showWeights,
    direction: settings.direction,
    search: NO_SEARCH,
    pointed: [],
    panels: DEFAULT_PANELS,
    table: DEFAULT_TABLE,
    severity: '',
    bindings: {},
    assume: settings.assumeDims,
    outlineOpen: new Set(),
    bookmarks: {},
    linkable: false,
    file: 'same',
    companion: null,
    scaleWith: [],
    batch: null,
    extraction: null,
    notice: '',
    help: false,
    announcement: ''
  };
}
