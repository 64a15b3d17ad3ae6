import type { IViewerSettings } from './api';
import { DEFAULT_TABLE } from './tableState';
import type { IViewerState } from './types';
import { DEFAULT_PANELS, NO_SELECTION, NO_SEARCH } from './types';

/** The ends of a brush are values of one overlay and have no meaning for another. */
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
    layoutProgress: null,
    document: null,
    selection: NO_SELECTION,
    moreSelected: [],
    historyBack: [],
    historyForward: [],
    hidden: [],
    trace: null,
    menu: null,
    overlay: null,
    device: null,
    deviceChooserOpen: false,
    userValues: 0,
    scale: settings.logScale ? 'log' : 'linear',
    brush: null,
    overlayRange: null,
    dark: false,
    exportTheme: 'page',
    showNames: settings.showNames,
    showWeights: settings.showWeights,
    direction: settings.direction,
    search: NO_SEARCH,
    externalHighlight: [],
    panels: DEFAULT_PANELS,
    modelPanelFits: null,
    table: DEFAULT_TABLE,
    diagnosticsFilter: '',
    bindings: {},
    assume: settings.assumeDims,
    outlineOpen: new Set(),
    bookmarks: {},
    canCopyLink: false,
    file: 'same',
    linkedView: null,
    linkedScaleValues: [],
    batch: null,
    extraction: null,
    notice: '',
    helpOpen: false,
    announcement: ''
  };
}
