import type { IViewerSettings } from '../api';
import type { IViewerState } from './types';
import { DEFAULT_PANELS, NOTHING, NO_SEARCH } from './types';

/** The state of a new view, before anything is loaded. */
export function initialState(settings: IViewerSettings): IViewerState {
  return {
    load: { status: 'loading', progress: { phase: '', done: 0, total: 0 } },
    document: null,
    selection: NOTHING,
    also: [],
    back: [],
    overlay: null,
    userValues: 0,
    logScale: settings.logScale,
    range: null,
    dark: false,
    showNames: settings.showNames,
    showWeights: settings.showWeights,
    search: NO_SEARCH,
    panels: DEFAULT_PANELS,
    table: { sort: '', descending: true, filter: '', op: '' },
    severity: '',
    bindings: {},
    assume: settings.assumeDims,
    outlineOpen: new Set(),
    bookmarks: {},
    fileChanged: false,
    help: false,
    announcement: ''
  };
}
