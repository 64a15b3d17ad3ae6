/** Expressions compiled to code for a stack machine. */

export const enum Op {
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
const MAX_DEPTH = 64;

/** Code of expression trees: pairs of operation and argument (an index, or the number of operands). */
export class ExpressionCode {
  readonly words: number[] = [];
  readonly starts: number[] = [0];
  readonly constants: bigint[] = [];
  depth = 1;

  constructor(private readonly _symbols: ReadonlyMap<string, number>) {}

  /** Appends one tree. Throws a TypeError if it is not a valid tree. */
  tree(tree: unknown): void {
    this._write(tree, this.starts.length - 1, 0, 1);
    this.starts.push(this.words.length);
  }

  private _write(tree: unknown, limit: number, level: number, used: number) {
    if (level > MAX_DEPTH) {
      throw new TypeError('an expression is nested too deeply');
    }
    this.depth = Math.max(this.depth, used);
    if (typeof tree === 'number' && Number.isInteger(tree)) {
      this._constant(BigInt(tree));
    } else if (typeof tree === 'string') {
      const symbol = this._symbols.get(tree);
      if (symbol === undefined) {
        throw new TypeError(`unknown symbol ${tree}`);
      }
      this.words.push(Op.Symbol, symbol);
    } else if (Array.isArray(tree)) {
      this._list(tree, limit, level, used);
    } else {
      throw new TypeError('not an expression');
    }
  }

  private _list(
    tree: readonly unknown[],
    limit: number,
    level: number,
    used: number
  ): void {
    const [head, ...operands] = tree;
    const first = operands[0];
    if (head === 'n' && typeof first === 'string' && /^-?\d+$/.test(first)) {
      this._constant(BigInt(first));
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
      this._write(operand, limit, level + 1, used + i)
    );
    this.words.push(op, count);
  }

  private _constant(value: bigint): void {
    this.words.push(Op.Number, this.constants.length);
    this.constants.push(value);
  }
}
