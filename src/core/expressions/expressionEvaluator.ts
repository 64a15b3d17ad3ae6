/**
 * Evaluates compiled expressions. A tree is computed in doubles as long as every intermediate value stays
 * below 2^53 and is therefore exact; otherwise it is computed again in BigInt and rounded once, at the
 * end.
 */

import { Op, type ExpressionCode } from './expressionCode';

const EXACT = Number.MAX_SAFE_INTEGER;

/** State of a tree's value. */
const enum EvaluatorState {
  Exact,
  Big,
  None
}

/** Floor division; exact for whole numbers below 2^53. */
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
export class ExpressionEvaluator {
  /** The double nearest to each tree's value; NaN without a value. */
  readonly values: Float64Array;
  private readonly _code: Int32Array;
  private readonly _starts: Int32Array;
  private readonly _constants: Float64Array;
  private readonly _big: readonly bigint[];
  private readonly _states: Uint8Array;
  private readonly _bigs = new Map<number, bigint>();
  private readonly _stack: Float64Array;
  private _symbols: readonly number[] = [];

  constructor(code: ExpressionCode) {
    const count = code.starts.length - 1;
    this._code = Int32Array.from(code.words);
    this._starts = Int32Array.from(code.starts);
    this._big = code.constants;
    this._constants = Float64Array.from(code.constants, Number);
    this.values = new Float64Array(count);
    this._states = new Uint8Array(count);
    this._stack = new Float64Array(code.depth + 1);
  }

  run(symbols: readonly number[]): void {
    this._symbols = symbols;
    this._bigs.clear();
    for (let tree = 0; tree < this.values.length; tree++) {
      const value = this._exact(tree);
      if (value === value) {
        this.values[tree] = value;
        this._states[tree] = EvaluatorState.Exact;
        continue;
      }
      const rounded = this._rounded(tree);
      this.values[tree] = rounded === null ? NaN : Number(rounded);
      this._states[tree] =
        rounded === null ? EvaluatorState.None : EvaluatorState.Big;
      if (rounded !== null) {
        this._bigs.set(tree, rounded);
      }
    }
  }

  /** The value in doubles; NaN if an intermediate value is not exact. */
  private _exact(tree: number): number {
    const { _code: code, _stack: stack, _starts: starts } = this;
    let top = -1;
    for (let factor = starts[tree]; factor < starts[tree + 1]; factor += 2) {
      const argument = code[factor + 1];
      const op = code[factor];
      if (op === Op.Number) {
        stack[++top] = this._constants[argument];
      } else if (op === Op.Symbol) {
        stack[++top] = this._symbols[argument];
      } else if (op === Op.Tree) {
        if (this._states[argument] !== EvaluatorState.Exact) {
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
  private _rounded(tree: number): bigint | null {
    const { _code: code, _starts: starts } = this;
    const stack: bigint[] = [];
    for (let factor = starts[tree]; factor < starts[tree + 1]; factor += 2) {
      const argument = code[factor + 1];
      const op = code[factor];
      if (op === Op.Number) {
        stack.push(this._big[argument]);
      } else if (op === Op.Symbol) {
        stack.push(BigInt(this._symbols[argument]));
      } else if (op === Op.Tree) {
        if (this._states[argument] === EvaluatorState.None) {
          return null;
        }
        stack.push(this._bigs.get(argument) ?? BigInt(this.values[argument]));
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
