/** Tokens shared by the plugins of this extension, and with other extensions. */

import type { IWidgetTracker } from '@jupyterlab/apputils';
import { Token } from '@lumino/coreutils';
import type { LabSettings } from './settings/labSettings';
import type {
  IDocumentServices as IServices,
  OnnxDocument
} from './documentWidget';

/** Tracks the open models. `content.handle` controls a view: selection, heatmap, dimensions, actions. */
export type IOnnxTracker = IWidgetTracker<OnnxDocument>;
export const IOnnxTracker = new Token<IOnnxTracker>(
  'onnx-autodoc:IOnnxTracker',
  'A widget tracker for ONNX models. Use it to read or drive the views that are open.'
);

/** The user's settings of this extension. */
export type IOnnxSettings = LabSettings;
export const IOnnxSettings = new Token<IOnnxSettings>(
  'onnx-autodoc:IOnnxSettings',
  'The settings of ONNX Autodoc, validated.'
);

/** Services that each view needs from JupyterLab. */
export type IOnnxServices = IServices;
export const IOnnxServices = new Token<IOnnxServices>(
  'onnx-autodoc:IOnnxServices',
  'What a view of an ONNX model needs from JupyterLab: server, settings, theme, state.'
);
