export { SideBySide } from './app/SideBySide';
export type { IModelViewProps } from './app/SideBySide';
export { Viewer } from './app/Viewer';
export { DEFAULT_SETTINGS } from './state/api';
export type {
  IActionInfo,
  IFileHost,
  IViewerHandle,
  IViewerLink,
  IViewerProps,
  IViewerSettings
} from './state/api';
export { reportText } from './features/report/lazyReportText';
export { decodeViewFragment } from './state/viewFragment';
export { pageFont } from './graph/text/textMeasure';
export { LazyMount } from './host/lazyMount';
export type { IMountContent } from './host/lazyMount';
export { applySelection, applyOverlay } from './host/hostCommands';
export type { IUserValues, OverlayId } from './overlays';
export { IDENTITY } from './i18n/translate';
export type { ITranslate } from './i18n/translate';
export type { ILinkOptions } from './state/linkedViews';
export type { BoundKeys } from './state/api';
