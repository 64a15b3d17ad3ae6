/** The core's public surface: no React, no DOM. */
export { compileExpressions, EXPRESSION_METRICS } from './expr';
export type { ExpressionMetric, IEvaluation, IExpressions } from './expr';
export { hiddenNodes, othersOf } from './hidden';
export { litOf } from './lit';
export type { ILit } from './lit';
export {
  chosenPart,
  counterpart,
  hiddenByHand,
  partAt,
  partsOf,
  withPart
} from './parts';
export type { IPart } from './parts';
export { Blocks, blocksOf } from './blocks';
export { boundary } from './boundary';
export type { IBoundary } from './boundary';
export { ancestors, descendants, paths } from './trace';
export type { ISeeds, ITrace } from './trace';
export {
  deviceOf,
  hardwareOf,
  latencyOf,
  precisionOf,
  precisionsOf
} from './latency';
export { decode, METRIC_IDS, TENSOR_KIND, timed } from './model';
export { buildTree } from './tree';
export type { IGroupTree } from './tree';
export {
  formatBytes,
  formatConfidence,
  formatCount,
  formatExact,
  formatMetric,
  formatSeconds,
  formatShape,
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
export { SCALE_MODES } from './scale';
export type { IScale, ISpan, ScaleMode } from './scale';
export * from './types';
export { createGraphView } from './view';
export type { IMeasuredView } from './view';
export { InlineEngine, WorkerEngine } from './layout/engine';
export type { ILayoutEngine } from './layout/engine';
export { PANEL } from './layout/panel';
export { parseQuery } from './query';
export type { IQueryFault, Query } from './query';
export { FIELD_NAMES } from './queryFields';
export { findAll, matcher } from './matcher';
// The matching of two models is in its own module: what compares fetches it when it is first used.
