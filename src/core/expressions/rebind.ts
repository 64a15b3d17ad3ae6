/**
 * Sets symbolic dimensions without another analysis: recomputes the payload's numbers from its
 * expressions.
 */

import type { BatchOffer, DimInfo, GraphPayload } from '../../schema';
import { compileExpressions, EXPRESSION_METRICS } from './compileExpressions';
import type { IEvaluation, IExpressions } from './compileExpressions';
import { Lifetimes } from '../model/tensorLifetimes';
import { decodePayload, withMetricsOf } from '../model/decodePayload';
import type { IGraphModel } from '../types';
import { ownValue } from '../base/ownValue';

/** Reason shown if the expressions reject the sizes. */
const INVALID_SIZES = 'the sizes do not fit each other or the model';
const UNDECIDED = {
  verdict: 'unknown',
  reason: '',
  node: null,
  sizes: false,
  file: false
};

const PEAKS = [
  'peak_activation_bytes',
  'peak_activation_bytes_simple'
] as const;

/** Totals of the payload's metrics and their names in the pool. */
const TOTALS = {
  total_macs: 'macs',
  total_flops: 'flops',
  read_bytes: 'read_bytes',
  write_bytes: 'write_bytes'
} as const;

const valueOrNull = (value: number | undefined): number | null =>
  value === undefined || Number.isNaN(value) ? null : value;

/** The dimensions that can be set: the symbolic ones, or else a batch that the file has fixed. */
export function sizable(payload: GraphPayload): GraphPayload['dims'] {
  return payload.dims.length > 0 || !payload.batch
    ? payload.dims
    : [payload.batch.dim];
}

/** Returns the payload with a batch other than the one that the file has fixed. */
export function withBatch(
  payload: GraphPayload,
  batch: BatchOffer
): GraphPayload {
  const { shape, shapes } = batch;
  return { ...payload, batch, shapes, tensors: { ...payload.tensors, shape } };
}

/** Sets the dimensions of a payload, any number of times. */
export class Rebinder {
  private constructor(
    private readonly _payload: GraphPayload,
    private readonly _dims: GraphPayload['dims'],
    private readonly _model: IGraphModel,
    private readonly _expressions: IExpressions,
    private readonly _shapeTrees: IExpressions,
    private readonly _trees: readonly (readonly number[])[]
  ) {}

  /**
   * Null if the payload lacks an expression for a number that is known now: that number would be lost.
   * `model` is the decoded payload.
   */
  static of(
    payload: GraphPayload,
    model: IGraphModel = decodePayload(payload)
  ): Rebinder | null {
    const pool = payload.expressions ?? payload.batch?.expressions;
    const dims = sizable(payload);
    if (!pool || dims.some(dim => !pool.dims.includes(dim.name))) {
      return null;
    }
    const isIncomplete = EXPRESSION_METRICS.some(metric =>
      pool[metric].some(
        (tree, node) => tree < 0 && payload.nodes[metric][node] !== null
      )
    );
    const totals = [...Object.values(TOTALS), ...PEAKS];
    const undecided = Object.values(pool.runs).some(tree => tree < 0);
    if (
      isIncomplete ||
      undecided ||
      totals.some(name => !(pool.totals[name] >= 0))
    ) {
      return null;
    }
    // The dimensions of shapes are evaluated as totals of a separate pool.
    const sizes = [...new Set(pool.shapes.flat())].filter(tree => tree >= 0);
    const shapePool = {
      ...pool,
      macs: [],
      flops: [],
      read_bytes: [],
      write_bytes: [],
      activation_bytes: [],
      runs: {},
      totals: Object.fromEntries(sizes.map(tree => [String(tree), tree]))
    };
    return new Rebinder(
      payload,
      dims,
      model,
      compileExpressions(pool),
      compileExpressions(shapePool),
      pool.shapes
    );
  }

  /**
   * Returns the payload for `sizes`, by `dims[].name`: with all numbers unknown if the sizes do not fit
   * the model, null if only an analysis can tell. `bindings` names the sizes that the user set; the others
   * stay assumed if they were.
   */
  rebind(
    sizes: Readonly<Record<string, number>>,
    bindings: Readonly<Record<string, number>> = {}
  ): GraphPayload | null {
    const { _payload: payload } = this;
    if (this._dims.some(dim => !((ownValue(sizes, dim.name) ?? 0) >= 1))) {
      return null;
    }
    const isUnchanged = this._dims.every(
      dim => dim.value === ownValue(sizes, dim.name)
    );
    if (payload.batch && isUnchanged) {
      // The file's own batch: a rewritten model may copy tensors that all items share.
      return payload;
    }
    const evaluation = this._expressions.evaluate(sizes);
    if (evaluation.problem) {
      return this._withUnknowns(sizes, bindings);
    }
    if (PEAKS.some(name => Number.isNaN(evaluation.totals[name]))) {
      return null;
    }
    const { nodes, metrics } = payload;
    const columns = Object.fromEntries(
      EXPRESSION_METRICS.map(metric => [
        metric,
        Array.from(evaluation.nodes[metric], valueOrNull)
      ])
    );
    const rebound: GraphPayload = {
      ...payload,
      dims: this._sized(sizes, bindings),
      runnable:
        payload.runnable.verdict === 'yes' || payload.runnable.file
          ? payload.runnable
          : UNDECIDED,
      nodes: {
        ...nodes,
        ...columns,
        runs: Object.fromEntries(
          Object.entries(evaluation.runs).filter(([, runs]) => runs !== 1)
        )
      },
      shapes: this._shapes(sizes),
      metrics: {
        ...metrics,
        ...totalsOf(evaluation),
        data_dependent_flops: unlessBounded(metrics)
      },
      memory: {
        ...payload.memory,
        reason: 'other sizes were chosen since the analysis'
      }
    };
    rebound.coverage = coverageOf(payload, rebound);
    const model = withMetricsOf(this._model, rebound);
    rebound.metrics = { ...rebound.metrics, by_op: this._byOp(model) };
    const timeline = rebuildTimeline(model);
    const note = this._staleResultsNote(timeline !== null);
    return {
      ...rebound,
      timeline,
      diagnostics: [...payload.diagnostics, note]
    };
  }

  private _sized(
    sizes: Readonly<Record<string, number>>,
    bindings: Readonly<Record<string, number>>
  ): DimInfo[] {
    return this._dims.map(dim => ({
      ...dim,
      value: ownValue(sizes, dim.name) ?? null,
      assumed:
        dim.assumed &&
        dim.value === ownValue(sizes, dim.name) &&
        !Object.hasOwn(bindings, dim.name)
    }));
  }

  /**
   * Returns the payload for sizes that do not fit each other or the model: everything that depends on
   * them is unknown.
   */
  private _withUnknowns(
    sizes: Readonly<Record<string, number>>,
    bindings: Readonly<Record<string, number>>
  ): GraphPayload {
    const { _payload: payload } = this;
    const { nodes, metrics, coverage } = payload;
    const lost = nodes.op.map((_, node) => node);
    const unknown = nodes.op.map(() => null);
    const none = Object.fromEntries(
      [...Object.keys(TOTALS), ...PEAKS].map(name => [name, null])
    );
    return {
      ...payload,
      dims: this._sized(sizes, bindings),
      runnable: { ...UNDECIDED, reason: INVALID_SIZES, sizes: true },
      nodes: {
        ...nodes,
        ...Object.fromEntries(EXPRESSION_METRICS.map(id => [id, unknown])),
        reason: Object.fromEntries(
          lost.map(node => [String(node), INVALID_SIZES])
        )
      },
      shapes: this._shapes(sizes),
      metrics: {
        ...metrics,
        ...none,
        data_dependent_flops: unlessBounded(metrics),
        peak_reason: INVALID_SIZES,
        by_op: metrics.by_op.map(row => ({ ...row, macs: null, flops: null }))
      },
      coverage: {
        ...coverage,
        nodes: 0,
        nodes_known: 0,
        macs: coverage.macs === null ? null : 0,
        reasons: { [INVALID_SIZES]: coverage.nodes_total }
      },
      memory: {
        ...payload.memory,
        peak: null,
        peak_simple: null,
        input_bytes: null,
        curve: null,
        activations: null,
        reason: INVALID_SIZES
      },
      timeline: null,
      diagnostics: [...payload.diagnostics, this._staleResultsNote(false)]
    };
  }

  /** A diagnostic that lists the results which still use the sizes of the analysis. */
  private _staleResultsNote(
    timed: boolean
  ): GraphPayload['diagnostics'][number] {
    const sizes = this._dims.map(dim => `${dim.name} = ${dim.value}`);
    const unchanged = timed
      ? 'findings and the cache'
      : 'findings, memory over time and the cache';
    return {
      code: 'other-sizes',
      severity: 'info',
      message: `Costs and shapes use the dimensions set here; ${unchanged} still use ${sizes.join(', ')}.`,
      where: '',
      node: null
    };
  }

  private _shapes(sizes: Readonly<Record<string, number>>): Shapes {
    const { totals } = this._shapeTrees.evaluate(sizes);
    const trees = this._trees;
    return this._payload.shapes.map((shape, index) =>
      shape === null || !trees[index]?.length
        ? shape
        : trees[index].map(tree => valueOrNull(totals[String(tree)]))
    );
  }

  /** Sums by operator type, in their previous order. */
  private _byOp(model: IGraphModel): GraphPayload['metrics']['by_op'] {
    const { nodes, ops, metrics } = this._payload;
    const constant = new Set(nodes.constant);
    const sums = new Map<string, { macs: number; flops: number }>();
    for (let node = 0; node < nodes.op.length; node++) {
      if (constant.has(node)) {
        continue;
      }
      const { type } = ops[nodes.op[node]];
      const sum = sums.get(type) ?? { macs: 0, flops: 0 };
      sum.macs += valueOrNull(model.metrics.macs[node]) ?? 0;
      sum.flops += valueOrNull(model.metrics.flops[node]) ?? 0;
      sums.set(type, sum);
    }
    return metrics.by_op.map(entry => ({
      ...entry,
      macs: entry.macs === null ? null : (sums.get(entry.type)?.macs ?? null),
      flops: entry.flops === null ? null : (sums.get(entry.type)?.flops ?? null)
    }));
  }
}

/**
 * Memory over time for other shapes: lifetimes are those of the analysis, sizes are recomputed. Null if
 * the curves cannot be computed or do not reach exactly the peaks that the expressions give.
 */
function rebuildTimeline(model: IGraphModel): GraphPayload['timeline'] {
  const { timeline, metrics } = model.payload;
  if (timeline === null) {
    return null;
  }
  const curves = new Lifetimes(model, timeline).curves();
  const reaches = (bytes: readonly number[], peak: number | null): boolean =>
    bytes.reduce((a, b) => Math.max(a, b), curves?.inputs ?? 0) === peak;
  const agrees =
    curves !== null &&
    reaches(curves.inplace, metrics.peak_activation_bytes) &&
    reaches(curves.simple, metrics.peak_activation_bytes_simple);
  return agrees
    ? {
        ...timeline,
        simple_bytes: curves.simple,
        inplace_bytes: curves.inplace
      }
    : null;
}

type Shapes = GraphPayload['shapes'];
/** The bound of data-dependent work has no expression: at other sizes it is unknown, unless there is none. */
function unlessBounded({
  data_dependent_flops: bound
}: GraphPayload['metrics']): number | null {
  return bound === 0 ? 0 : null;
}

type ExpressionCoverage = GraphPayload['coverage'];

const isSized = (shape: Shapes[number] | undefined): boolean =>
  shape?.every(size => typeof size === 'number') ?? false;

/** Coverage without the unknowns that were due only to an unset dimension. */
function coverageOf(
  before: GraphPayload,
  after: GraphPayload
): ExpressionCoverage {
  const { coverage, nodes, tensors } = before;
  const reasons = new Map(Object.entries(coverage.reasons));
  let knownNodes = coverage.nodes_known;
  nodes.macs.forEach((macs, node) => {
    if (macs === null && after.nodes.macs[node] !== null) {
      knownNodes++;
      const reason = nodes.reason[String(node)] ?? '';
      reasons.set(reason, (reasons.get(reason) ?? 0) - 1);
    }
  });
  const sized = ({ shapes }: GraphPayload): number =>
    tensors.shape.filter(shape => isSized(shapes[shape])).length;
  const [was, is] = [sized(before), sized(after)];
  const total =
    was > 0 ? Math.round(was / coverage.shapes) : tensors.shape.length;
  const isComplete = knownNodes >= coverage.nodes_total;
  return {
    ...coverage,
    nodes_known: knownNodes,
    nodes: isComplete ? 1 : knownNodes / coverage.nodes_total,
    macs: isComplete && coverage.macs !== null ? 1 : coverage.macs,
    shapes: Math.min(1, is / total),
    reasons: Object.fromEntries([...reasons].filter(([, count]) => count > 0))
  };
}

function totalsOf(evaluation: IEvaluation): Partial<GraphPayload['metrics']> {
  return Object.fromEntries([
    ...Object.entries(TOTALS).map(([name, key]) => [
      name,
      valueOrNull(evaluation.totals[key])
    ]),
    ...PEAKS.map(name => [name, valueOrNull(evaluation.totals[name])])
  ]) as Partial<GraphPayload['metrics']>;
}
