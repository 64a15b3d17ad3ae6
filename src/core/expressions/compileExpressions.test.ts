import { describe, expect, it } from 'vitest';
import type { ExpressionPool } from '../../schema';
import { compileExpressions, EXPRESSION_METRICS } from './compileExpressions';
import fixture from '../testing/expressions.json';

const pool = fixture.pool as ExpressionPool;

function small(trees: unknown[], more: Partial<ExpressionPool> = {}) {
  return compileExpressions({
    symbols: ['a', 'b'],
    dims: ['a', 'batch size'],
    trees,
    conditions: [],
    inplace_conditions: [],
    macs: trees.map((_, i) => i),
    flops: [],
    read_bytes: [],
    write_bytes: [],
    activation_bytes: [],
    runs: {},
    shapes: [],
    totals: { macs: trees.length - 1 },
    reason: {},
    ...more
  });
}

/** The value of the last tree for a = 7 and b = 3. */
function value(...trees: unknown[]): number {
  return small(trees).evaluate({ a: 7, 'batch size': 3 }).totals.macs;
}

describe('the shared fixture of the Python evaluator', () => {
  const expressions = compileExpressions(pool);

  it.each(fixture.cases.map((item, i) => [i, item] as const))(
    'gives the same values for binding %i',
    (_, { sizes, holds, inplace, values }) => {
      const { batch, ...rest } = sizes;
      const evaluation = expressions.evaluate({ 'batch size': batch, ...rest });
      expect(evaluation.problem === '').toBe(holds);
      const expected = values.map(text => (text === null ? NaN : Number(text)));
      if (!holds) {
        expect(evaluation.nodes.macs.every(Number.isNaN)).toBe(true);
        expect(Object.values(evaluation.totals).every(Number.isNaN)).toBe(true);
        return;
      }
      for (const metric of EXPRESSION_METRICS) {
        expect([...evaluation.nodes[metric]]).toEqual(expected);
      }
      expect(evaluation.totals.macs).toBe(expected[0]);
      expect(evaluation.totals.peak_activation_bytes_simple).toBe(expected[7]);
      expect(evaluation.totals.peak_activation_bytes).toBe(
        inplace ? expected[8] : NaN
      );
    }
  );

  it('contains values that doubles cannot represent', () => {
    const texts = fixture.cases.flatMap(item => item.values);
    expect(texts.some(text => text !== null && BigInt(text) > 2n ** 60n)).toBe(
      true
    );
    expect(texts.includes(null)).toBe(true);
    expect(fixture.cases.some(item => !item.holds)).toBe(true);
  });
});

describe('compileExpressions', () => {
  it('evaluates arithmetic', () => {
    expect(value(5)).toBe(5);
    expect(value(['+', ['*', 2, 'a', 'b'], -1])).toBe(41);
    expect(value(['//', ['*', -1, 'a'], 2])).toBe(-4);
    expect(value(['//', 'a', ['*', -1, 'b']])).toBe(-3);
    expect(value(['max', 'a', 'b', 9])).toBe(9);
    expect(value(['min', 'a', 'b', 9])).toBe(3);
    expect(value(['//', 'a', 2], ['*', ['$', 0], ['$', 0]])).toBe(9);
  });

  it('rounds only the final result', () => {
    // (2^60 + 7) - 2^60 is lost in doubles.
    const large = ['n', '1152921504606846976'];
    expect(value(['+', large, 'a', ['*', -1, large]])).toBe(7);
    expect(value(large, ['+', ['$', 0], 'a'], ['//', ['$', 1], 'b'])).toBe(
      Number((2n ** 60n + 7n) / 3n)
    );
    expect(value(['*', ['n', '9007199254740993'], 1])).toBe(2 ** 53);
  });

  it('returns NaN for undefined results', () => {
    expect(value(['//', 'a', ['+', 'b', -3]])).toBeNaN();
    expect(value(['//', 'a', ['+', 'b', -3]], ['+', ['$', 0], 1])).toBeNaN();
    const expressions = small([1], { macs: [0, -1], totals: { macs: -1 } });
    const { nodes, totals } = expressions.evaluate({ a: 1, 'batch size': 1 });
    expect([...nodes.macs]).toEqual([1, NaN]);
    expect(totals.macs).toBeNaN();
  });

  it.each<Record<string, number>>([
    {},
    { a: 1 },
    { a: 0, 'batch size': 1 },
    { a: 1.5, 'batch size': 1 }
  ])('rejects sizes that are not positive integers: %o', sizes => {
    const evaluation = small(['a']).evaluate(sizes);
    expect(evaluation.problem).not.toBe('');
    expect(evaluation.totals.macs).toBeNaN();
  });

  it('checks conditions at every evaluation', () => {
    const expressions = small(['a', ['+', 'a', -4], ['+', 'a', -6]], {
      conditions: [{ relation: 'positive', tree: 1 }],
      inplace_conditions: [{ relation: 'nonzero', tree: 2 }],
      totals: { macs: 0, peak_activation_bytes: 0 }
    });
    const valuesFor = (a: number) => {
      const evaluation = expressions.evaluate({ a, 'batch size': 1 });
      return [
        evaluation.problem === '',
        evaluation.totals.macs,
        evaluation.totals.peak_activation_bytes
      ];
    };
    expect(valuesFor(4)).toEqual([false, NaN, NaN]);
    expect(valuesFor(5)).toEqual([true, 5, 5]);
    expect(valuesFor(6)).toEqual([true, 6, NaN]);
    expect(valuesFor(4)).toEqual([false, NaN, NaN]);
    expect(valuesFor(7)).toEqual([true, 7, 7]);
  });

  it('rejects an unknown condition', () => {
    const expressions = small(['a'], {
      conditions: [{ relation: 'prime', tree: 0 }]
    });
    expect(expressions.evaluate({ a: 7, 'batch size': 1 }).problem).not.toBe(
      ''
    );
  });

  it.each([
    ['c'],
    [['+', 1]],
    [['//', 1, 2, 3]],
    [['**', 1, 2]],
    [['$', 0]],
    [['$', 1.5]],
    [['$', -1]],
    [['n', '1e3']],
    [null],
    [{}],
    [1.5],
    [['toString', 1, 2]]
  ])('rejects %j', tree => {
    expect(() => small([tree])).toThrow(TypeError);
  });

  it('rejects a tree too deep for its stack', () => {
    let tree: unknown = 'a';
    for (let i = 0; i < 100_000; i++) {
      tree = ['+', tree, 1];
    }
    expect(() => small([tree])).toThrow(TypeError);
  });
});
