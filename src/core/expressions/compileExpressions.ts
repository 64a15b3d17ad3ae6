/**
 * Costs as expressions in the input dimensions: compiled once, evaluated for any sizes. Every value is
 * the double nearest to the exact integer.
 */

import type { ExpressionCondition, ExpressionPool } from '../../schema';
import { ExpressionCode } from './expressionCode';
import { ExpressionEvaluator } from './expressionEvaluator';
import { ownValue } from '../base/ownValue';

/** Metrics that expressions give for each node. */
export const EXPRESSION_METRICS = [
  'macs',
  'flops',
  'read_bytes',
  'write_bytes',
  'activation_bytes'
] as const;

export type ExpressionMetric = (typeof EXPRESSION_METRICS)[number];

/** Values of all expressions for one binding; NaN where there is no expression or no valid value. */
export interface IEvaluation {
  /** Why the sizes are invalid; empty if they are valid. */
  readonly problem: string;
  /** By node, for one execution. */
  readonly nodes: Readonly<Record<ExpressionMetric, Float64Array>>;
  /** Number of runs by node id (as text), for nodes that do not run exactly once. */
  readonly runs: Readonly<Record<string, number>>;
  readonly totals: Readonly<Record<string, number>>;
}

/** A compiled pool. */
export interface IExpressions {
  /** The `dims[].name` that `evaluate` needs sizes for. */
  readonly dims: readonly string[];
  /** Evaluates the pool for `sizes` (whole numbers of at least 1) by `dims[].name`. Never throws. */
  evaluate(sizes: Readonly<Record<string, number>>): IEvaluation;
}

/** True if the value of the tree fulfils the condition. */
function conditionHolds(
  condition: ExpressionCondition,
  value: number
): boolean {
  switch (condition.relation) {
    case 'zero':
      return value === 0;
    case 'positive':
      return value >= 1;
    case 'nonzero':
      return value !== 0 && value === value;
    default:
      return false;
  }
}

function pick(indices: readonly number[], values: Float64Array): Float64Array {
  return Float64Array.from(indices, i => values[i] ?? NaN);
}

/** Compiles a payload's pool. Throws a TypeError if it is malformed. */
export function compileExpressions(pool: ExpressionPool): IExpressions {
  const code = new ExpressionCode(
    new Map(pool.symbols.map((name, i) => [name, i]))
  );
  pool.trees.forEach(tree => code.tree(tree));
  const machine = new ExpressionEvaluator(code);
  const empty = new Float64Array(0);

  function result(problem: string, inPlace: boolean): IEvaluation {
    const values = problem ? empty : machine.values;
    const named = (trees: Record<string, number>): Record<string, number> =>
      Object.fromEntries(
        Object.entries(trees).map(([name, i]) => [name, values[i] ?? NaN])
      );
    const totals = named(pool.totals);
    if (!inPlace) {
      totals.peak_activation_bytes = NaN;
    }
    const nodes = Object.fromEntries(
      EXPRESSION_METRICS.map(id => [id, pick(pool[id], values)])
    ) as Record<ExpressionMetric, Float64Array>;
    return { problem, nodes, runs: named(pool.runs), totals };
  }

  return {
    dims: pool.dims,
    evaluate(sizes) {
      const symbols: number[] = [];
      for (const name of pool.dims) {
        const size = ownValue(sizes, name) ?? Number.NaN;
        if (!(Number.isSafeInteger(size) && size >= 1)) {
          return result(`${name} needs a size of at least 1.`, false);
        }
        symbols.push(size);
      }
      machine.run(symbols);
      const fits = (condition: ExpressionCondition): boolean =>
        conditionHolds(condition, machine.values[condition.tree]);
      if (!pool.conditions.every(fits)) {
        return result('The sizes do not fit each other or the model.', false);
      }
      return result('', pool.inplace_conditions.every(fits));
    }
  };
}
