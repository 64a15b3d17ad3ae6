/**
 * Evaluates the code of expressions. A tree is computed in doubles while every intermediate value stays
 * below 2^53 and is exact therefore; the first that does not is computed again in BigInt and rounded
 * once, at the end.
 */

import { Op, type Code } from './exprCode';

const EXACT = Number.MAX_SAFE_INTEGER;

/** State of a tree's value. */
const enum State {
  Exact,
  Big,
  None
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
export class Machine {
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
