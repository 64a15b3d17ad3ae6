export { Beside } from './compare/Beside';
export type { IShown } from './compare/Beside';
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
export { reportText } from './report/code';
export type { BoundKeys } from './keyboard';
export { readView } from './state/link';
export { pageFont } from './graph/text';
export { Resident } from './residence/resident';
export type { ITenant } from './residence/resident';
export { chooseNodes, paintNodes } from './wishes';
export type { IUserValues, OverlayId } from './overlays';
export { IDENTITY } from './translate';
export type { ITranslate } from './translate';
export type { ILinkOptions } from './compare/types';
