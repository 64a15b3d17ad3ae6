export { Viewer } from './Viewer';
export { DEFAULT_SETTINGS } from './api';
export type {
  IActionInfo,
  IFileHost,
  IViewerHandle,
  IViewerLink,
  IViewerProps,
  IViewerSettings
} from './api';
export { readView } from './state/link';
export { isOverlayId } from './overlays';
export type { IUserValues, OverlayId } from './overlays';
export { IDENTITY } from './translate';
export type { ITranslate } from './translate';
export type { ILinkOptions } from './compare/types';
