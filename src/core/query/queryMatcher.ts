/** Matches queries against a model's nodes and groups. */

import type { ICondition, Query } from './queryParser';
import { hasConditions, hasWords } from './queryParser';
import { SearchIndex } from './textSearch';
import type { ITree } from '../types';

/**
 * How well an entity matches: positive if it does, 0 if not, NaN if that depends on an unknown value. An
 * unknown value matches neither a condition nor its negation.
 */
type Test = (entity: number) => number;

/** Created when a model is first searched. */
const indexes = new WeakMap<ITree, SearchIndex>();

function indexOf(tree: ITree): SearchIndex {
  const index = indexes.get(tree) ?? new SearchIndex(tree);
  indexes.set(tree, index);
  return index;
}

function textTest(condition: ICondition): (text: string) => boolean {
  const { relation, text } = condition;
  if (relation === '~') {
    return value => value.includes(text);
  }
  if (!text.includes('*')) {
    return value => value === text;
  }
  const fragments = text.split('*');
  const [first, last] = [fragments[0], fragments[fragments.length - 1]];
  // Matched piece by piece: a regular expression could take exponential time.
  return value => {
    if (!value.startsWith(first) || !value.endsWith(last)) {
      return false;
    }
    let position = first.length;
    for (const fragment of fragments.slice(1, -1)) {
      const match = value.indexOf(fragment, position);
      if (match < 0) {
        return false;
      }
      position = match + fragment.length;
    }
    return position + last.length <= value.length;
  };
}

function compare(value: number, { relation, number }: ICondition): boolean {
  switch (relation) {
    case '=':
      return value === number;
    case '!=':
      return value !== number;
    case '<':
      return value < number;
    case '<=':
      return value <= number;
    case '>':
      return value > number;
    case '>=':
      return value >= number;
    default:
      return false;
  }
}

function conditionTest(tree: ITree, condition: ICondition): Test {
  const { field, relation, unknown } = condition;
  const matches = textTest(condition);
  const numeric = !Number.isNaN(condition.number);
  return entity => {
    const value = field.value(tree, entity);
    if (unknown) {
      return Number(value === null);
    }
    if (value === null) {
      return Number.NaN;
    }
    if (typeof value === 'number') {
      // A dimension compared with a symbol, `=batch`.
      return numeric
        ? Number(compare(value, condition))
        : Number(relation === '!=');
    }
    if (field.type === 'size' && numeric) {
      return Number.NaN;
    }
    const hasMatch = value.some(text => matches(text.toLowerCase()));
    return Number(hasMatch !== (relation === '!='));
  };
}

function compile(tree: ITree, query: Query): Test {
  switch (query.kind) {
    case 'word': {
      const index = indexOf(tree);
      return entity => index.score(entity, query);
    }
    case 'condition':
      return conditionTest(tree, query);
    case 'not': {
      const operand = compile(tree, query.part);
      return entity => {
        const value = operand(entity);
        return Number.isNaN(value) ? value : Number(value === 0);
      };
    }
    default: {
      const parts = query.parts.map(operand => compile(tree, operand));
      return query.kind === 'and' ? allOf(parts) : anyOf(parts);
    }
  }
}

function allOf(parts: readonly Test[]): Test {
  return entity => {
    let sum = 0;
    for (const operand of parts) {
      const value = operand(entity);
      if (value === 0) {
        return 0;
      }
      sum += value;
    }
    return sum;
  };
}

function anyOf(parts: readonly Test[]): Test {
  return entity => {
    let best = 0;
    let unknown = false;
    for (const operand of parts) {
      const value = operand(entity);
      unknown ||= Number.isNaN(value);
      best = value > best ? value : best;
    }
    return best === 0 && unknown ? Number.NaN : best;
  };
}

/** Compiles a query to a predicate for nodes and groups. */
export function compileMatcher(
  tree: ITree,
  query: Query
): (entity: number) => boolean {
  const test = compile(tree, query);
  return entity => test(entity) > 0;
}

/**
 * All matches, best first: nodes except Constants, and groups; groups come before equally good nodes.
 * Queries of conditions without words match only nodes, since sums of groups would drown their nodes.
 */
export function findMatches(tree: ITree, query: Query): number[] {
  const { nodeCount, nodeConstant } = tree.model;
  const test = compile(tree, query);
  const matches: { entity: number; score: number }[] = [];
  const look = (entity: number): void => {
    const score = test(entity);
    if (score > 0) {
      matches.push({ entity, score });
    }
  };
  if (!hasConditions(query) || hasWords(query)) {
    for (let group = 0; group < tree.groupCount; group++) {
      look(nodeCount + group);
    }
  }
  for (let node = 0; node < nodeCount; node++) {
    if (nodeConstant[node] === 0) {
      look(node);
    }
  }
  // The sort is stable: equal scores keep the order of the model.
  if (hasWords(query)) {
    matches.sort((a, b) => b.score - a.score);
  }
  return matches.map(({ entity }) => entity);
}
