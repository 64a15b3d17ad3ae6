/** The core's public surface: no React, no DOM. */
export { compileExpressions, EXPRESSION_METRICS } from './expr';
export type { ExpressionMetric, IEvaluation, IExpressions } from './expr';
export { decode, formatShape, METRIC_IDS, TENSOR_KIND } from './model';
export { buildTree } from './tree';
export type { IGroupTree } from './tree';
export {
  formatBytes,
  formatCount,
  formatExact,
  formatMetric,
  formatShare,
  UNKNOWN
} from './units';
export {
  contrast,
  createScale,
  histogram,
  luminance,
  rampColor,
  RAMP_STEPS,
  textOn
} from './scale';
export type { IScale, ScaleMode } from './scale';
export * from './types';
export { createGraphView } from './view';
export type { IMeasuredView } from './view';
export { InlineEngine, WorkerEngine } from './layout/engine';
export type { ILayoutEngine } from './layout/engine';
export { PANEL } from './layout/panel';
export { parseQuery, SearchIndex } from './search';
export type { IHit } from './search';
