/**
 * Costs as expressions in the input sizes: compiled once, evaluated for any sizes.
 *
 * Every value is the nearest double to the exact integer. A tree is computed in doubles while every
 * intermediate value stays below 2^53 and is exact therefore; the first that does not is computed again
 * in BigInt and rounded once, at the end.
 */

import type { ExpressionCondition, ExpressionPool } from '../schema';

/** The numbers that expressions give for each node. */
export const EXPRESSION_METRICS = [
  'macs',
  'flops',
  'read_bytes',
  'write_bytes',
  'activation_bytes'
] as const;

export type ExpressionMetric = (typeof EXPRESSION_METRICS)[number];

/** All expressions under one binding; NaN where there is none, or none that holds. */
export interface IEvaluation {
  /** Why nothing holds under these sizes; empty when it does. */
  readonly problem: string;
  /** By node, of one inference. */
  readonly nodes: Readonly<Record<ExpressionMetric, Float64Array>>;
  readonly totals: Readonly<Record<string, number>>;
}

/** A compiled pool. */
export interface IExpressions {
  /** `dims[].name` of the sizes it needs. */
  readonly dims: readonly string[];
  /** `sizes` by `dims[].name`, whole numbers of at least 1. Never throws. */
  evaluate(sizes: Readonly<Record<string, number>>): IEvaluation;
}

const enum Op {
  Number,
  Symbol,
  Tree,
  Add,
  Multiply,
  Divide,
  Largest,
  Smallest
}

const OPERATORS: ReadonlyMap<unknown, Op> = new Map([
  ['+', Op.Add],
  ['*', Op.Multiply],
  ['//', Op.Divide],
  ['max', Op.Largest],
  ['min', Op.Smallest]
]);
const EXACT = Number.MAX_SAFE_INTEGER;
const MAX_DEPTH = 64;

/** State of a tree's value. */
const enum State {
  Exact,
  Big,
  None
}

/** Trees as code for a stack machine: pairs of operation and argument (an index, or how many operands). */
class Code {
  readonly words: number[] = [];
  readonly starts: number[] = [0];
  readonly constants: bigint[] = [];
  depth = 1;

  constructor(private readonly symbols: ReadonlyMap<string, number>) {}

  /** Appends one tree. Throws a TypeError for what is none. */
  tree(tree: unknown): void {
    this.write(tree, this.starts.length - 1, 0, 1);
    this.starts.push(this.words.length);
  }

  private write(tree: unknown, limit: number, level: number, used: number) {
    if (level > MAX_DEPTH) {
      throw new TypeError('an expression is nested too deeply');
    }
    this.depth = Math.max(this.depth, used);
    if (typeof tree === 'number' && Number.isInteger(tree)) {
      this.constant(BigInt(tree));
    } else if (typeof tree === 'string') {
      const symbol = this.symbols.get(tree);
      if (symbol === undefined) {
        throw new TypeError(`unknown symbol ${tree}`);
      }
      this.words.push(Op.Symbol, symbol);
    } else if (Array.isArray(tree)) {
      this.list(tree, limit, level, used);
    } else {
      throw new TypeError('not an expression');
    }
  }

  private list(
    tree: readonly unknown[],
    limit: number,
    level: number,
    used: number
  ): void {
    const [head, ...operands] = tree;
    const first = operands[0];
    if (head === 'n' && typeof first === 'string' && /^-?\d+$/.test(first)) {
      this.constant(BigInt(first));
      return;
    }
    if (head === '$' && typeof first === 'number') {
      if (!(Number.isInteger(first) && first >= 0 && first < limit)) {
        throw new TypeError('an expression refers to a later one');
      }
      this.words.push(Op.Tree, first);
      return;
    }
    const op = OPERATORS.get(head);
    const count = operands.length;
    if (op === undefined || !(op === Op.Divide ? count === 2 : count >= 2)) {
      throw new TypeError(`not an expression: ${String(head)}`);
    }
    operands.forEach((operand, i) =>
      this.write(operand, limit, level + 1, used + i)
    );
    this.words.push(op, count);
  }

  private constant(value: bigint): void {
    this.words.push(Op.Number, this.constants.length);
    this.constants.push(value);
  }
}

/** Rounded down; exact for whole numbers below 2^53. */
function floorDivide(a: number, b: number): number {
  const rest = a % b;
  const quotient = (a - rest) / b;
  return rest !== 0 && rest < 0 !== b < 0 ? quotient - 1 : quotient;
}

function floorDivideBig(a: bigint, b: bigint): bigint {
  const quotient = a / b;
  return a % b !== 0n && a < 0n !== b < 0n ? quotient - 1n : quotient;
}

/** Runs the code of a pool for one binding. */
class Machine {
  /** Nearest double of each tree, NaN without a value. */
  readonly values: Float64Array;
  private readonly code: Int32Array;
  private readonly starts: Int32Array;
  private readonly constants: Float64Array;
  private readonly big: readonly bigint[];
  private readonly states: Uint8Array;
  private readonly bigs = new Map<number, bigint>();
  private readonly stack: Float64Array;
  private symbols: readonly number[] = [];

  constructor(code: Code) {
    const count = code.starts.length - 1;
    this.code = Int32Array.from(code.words);
    this.starts = Int32Array.from(code.starts);
    this.big = code.constants;
    this.constants = Float64Array.from(code.constants, Number);
    this.values = new Float64Array(count);
    this.states = new Uint8Array(count);
    this.stack = new Float64Array(code.depth + 1);
  }

  run(symbols: readonly number[]): void {
    this.symbols = symbols;
    this.bigs.clear();
    for (let tree = 0; tree < this.values.length; tree++) {
      const value = this.exact(tree);
      if (value === value) {
        this.values[tree] = value;
        this.states[tree] = State.Exact;
        continue;
      }
      const found = this.rounded(tree);
      this.values[tree] = found === null ? NaN : Number(found);
      this.states[tree] = found === null ? State.None : State.Big;
      if (found !== null) {
        this.bigs.set(tree, found);
      }
    }
  }

  /** The value in doubles; NaN when one on the way is not exact. */
  private exact(tree: number): number {
    const { code, stack, starts } = this;
    let top = -1;
    for (let at = starts[tree]; at < starts[tree + 1]; at += 2) {
      const argument = code[at + 1];
      const op = code[at];
      if (op === Op.Number) {
        stack[++top] = this.constants[argument];
      } else if (op === Op.Symbol) {
        stack[++top] = this.symbols[argument];
      } else if (op === Op.Tree) {
        if (this.states[argument] !== State.Exact) {
          return NaN;
        }
        stack[++top] = this.values[argument];
      } else {
        const first = top - argument + 1;
        let value = stack[first];
        for (let i = first + 1; i <= top; i++) {
          value = combine(op, value, stack[i]);
          // Also false for NaN.
          if (!(value <= EXACT && value >= -EXACT)) {
            return NaN;
          }
        }
        top = first;
        stack[top] = value;
      }
      if (!(stack[top] <= EXACT && stack[top] >= -EXACT)) {
        return NaN;
      }
    }
    return stack[0];
  }

  /** The exact value; null when there is none (a division by 0). */
  private rounded(tree: number): bigint | null {
    const { code, starts } = this;
    const stack: bigint[] = [];
    for (let at = starts[tree]; at < starts[tree + 1]; at += 2) {
      const argument = code[at + 1];
      const op = code[at];
      if (op === Op.Number) {
        stack.push(this.big[argument]);
      } else if (op === Op.Symbol) {
        stack.push(BigInt(this.symbols[argument]));
      } else if (op === Op.Tree) {
        if (this.states[argument] === State.None) {
          return null;
        }
        stack.push(this.bigs.get(argument) ?? BigInt(this.values[argument]));
      } else {
        const operands = stack.splice(stack.length - argument);
        if (op === Op.Divide && operands[1] === 0n) {
          return null;
        }
        stack.push(operands.reduce((a, b) => combineBig(op, a, b)));
      }
    }
    return stack[0];
  }
}

function combine(op: Op, a: number, b: number): number {
  switch (op) {
    case Op.Add:
      return a + b;
    case Op.Multiply:
      return a * b;
    case Op.Divide:
      return floorDivide(a, b);
    case Op.Largest:
      return a > b ? a : b;
    default:
      return a < b ? a : b;
  }
}

function combineBig(op: Op, a: bigint, b: bigint): bigint {
  switch (op) {
    case Op.Add:
      return a + b;
    case Op.Multiply:
      return a * b;
    case Op.Divide:
      return floorDivideBig(a, b);
    case Op.Largest:
      return a > b ? a : b;
    default:
      return a < b ? a : b;
  }
}

/** True when the value of the tree fulfils the condition. */
function holds(condition: ExpressionCondition, value: number): boolean {
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

/** Compiles a payload's pool. Throws a TypeError when it is not formed as it should be. */
export function compileExpressions(pool: ExpressionPool): IExpressions {
  const code = new Code(new Map(pool.symbols.map((name, i) => [name, i])));
  pool.trees.forEach(tree => code.tree(tree));
  const machine = new Machine(code);
  const empty = new Float64Array(0);

  function result(problem: string, inPlace: boolean): IEvaluation {
    const values = problem ? empty : machine.values;
    const totals = Object.fromEntries(
      Object.entries(pool.totals).map(([name, i]) => [name, values[i] ?? NaN])
    );
    if (!inPlace) {
      totals.peak_activation_bytes = NaN;
    }
    const nodes = Object.fromEntries(
      EXPRESSION_METRICS.map(id => [id, pick(pool[id], values)])
    ) as Record<ExpressionMetric, Float64Array>;
    return { problem, nodes, totals };
  }

  return {
    dims: pool.dims,
    evaluate(sizes) {
      const symbols: number[] = [];
      for (const name of pool.dims) {
        const size = sizes[name];
        if (!(Number.isSafeInteger(size) && size >= 1)) {
          return result(`${name} needs a size of at least 1.`, false);
        }
        symbols.push(size);
      }
      machine.run(symbols);
      const fits = (condition: ExpressionCondition): boolean =>
        holds(condition, machine.values[condition.tree]);
      if (!pool.conditions.every(fits)) {
        return result('The sizes do not fit each other or the model.', false);
      }
      return result('', pool.inplace_conditions.every(fits));
    }
  };
}
