/** The core's public surface: no React, no DOM. */
export {
  compileExpressions,
  EXPRESSION_METRICS
} from './expressions/compileExpressions';
export type {
  ExpressionMetric,
  IEvaluation,
  IExpressions
} from './expressions/compileExpressions';
export { countHiddenNodes, allExcept } from './tree/hiddenEntities';
export { computeTraceHighlight } from './trace/traceHighlight';
export type { ITraceHighlight } from './trace/traceHighlight';
export {
  soloPart,
  correspondingEntity,
  userHidden,
  partAt,
  partsOf,
  withPart
} from './tree/repeatParts';
export type { IRepeatPart } from './tree/repeatParts';
export { BlockIndex, blocksOf } from './model/structuralBlocks';
export { boundary } from './tree/groupBoundary';
export type { IBoundary } from './tree/groupBoundary';
export {
  collectAncestors,
  collectDescendants,
  pathsBetween
} from './trace/dataflowTrace';
export type { ISeeds, ITrace } from './trace/dataflowTrace';
export {
  deviceOf,
  hardwareOf,
  latencyOf,
  precisionOf,
  precisionsOf
} from './latency/latencyEstimate';
export {
  decodePayload,
  METRIC_IDS,
  TENSOR_KIND,
  withLatencyMetric
} from './model/decodePayload';
export { buildTree } from './tree/groupTree';
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
} from './base/numberFormat';
export {
  contrast,
  createScale,
  histogram,
  luminance,
  rampColor,
  RAMP_STEPS,
  readableTextColor
} from './base/colorScale';
export { SCALE_MODES } from './base/colorScale';
export type { IScale, ISpan, ScaleMode } from './base/colorScale';
export * from './types';
export { createGraphView } from './view/graphView';
export type { IInstrumentedGraphView } from './view/graphView';
export { InlineEngine, WorkerEngine } from './layout/engine/layoutEngine';
export type { ILayoutEngine } from './layout/engine/layoutEngine';
export { PANEL } from './layout/compound/layoutMetrics';
export { parseQuery } from './query/queryParser';
export type { IQuerySyntaxError, Query } from './query/queryParser';
export { FIELD_NAMES } from './query/queryFields';
export { findMatches, compileMatcher } from './query/queryMatcher';
// Model matching has its own module, loaded lazily by the code that compares.
export type { IGroupTree } from './tree/treeTypes';
