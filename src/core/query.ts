/**
 * The grammar of searches and filters: words and conditions, joined by `&`, `|`, `!` and parentheses.
 *
 *     conv "exact name"              words that all must match
 *     op=Conv & macs>1e8             conditions on fields
 *     in[0].shape[1]>=256 | !(op~norm)
 *
 * Terms side by side must all match, as if joined by `&`, which binds tighter than `|`. A text is
 * compared without regard to case: `=` the whole (`*` stands for anything), `~` a part of it. `=?` asks
 * for what is unknown. What the fields are is told by `queryFields.ts`.
 */

import { fieldOf, type IField } from './queryFields';

export type Relation = '=' | '!=' | '<' | '<=' | '>' | '>=' | '~';

export type Query =
  | { readonly kind: 'word'; readonly text: string; readonly exact: boolean }
  | ICondition
  | { readonly kind: 'not'; readonly part: Query }
  | { readonly kind: 'and' | 'or'; readonly parts: readonly Query[] };

/** A field compared with a value. */
export interface ICondition {
  readonly kind: 'condition';
  readonly field: IField;
  readonly relation: Relation;
  /** As written, lower case. */
  readonly text: string;
  /** The value as a number, NaN where it is none. */
  readonly number: number;
  /** `=?`: true for what is unknown. */
  readonly unknown: boolean;
}

/** What is wrong with a query, for the interface to put in words. */
export interface IQueryFault {
  readonly kind:
    | 'unknown-field'
    | 'no-field'
    | 'no-value'
    | 'not-a-number'
    | 'text-order'
    | 'number-part'
    | 'no-term'
    | 'unclosed'
    | 'unopened'
    | 'too-deep';
  /** Where, counted in characters from 0. */
  readonly at: number;
  /** What is written there. */
  readonly text: string;
}

export type Parsed =
  | { readonly query: Query | null; readonly fault: null }
  | { readonly query: null; readonly fault: IQueryFault };

interface IToken {
  readonly kind: '&' | '|' | '!' | '(' | ')' | 'relation' | 'quote' | 'word';
  readonly text: string;
  readonly at: number;
}

/** A query in parentheses in parentheses … so deep and no deeper. */
const MAX_DEPTH = 50;
const TOKEN =
  /\s*(?:(&&?|\|\|?|\(|\))|(!=|<=|>=|==|[<>=~≤≥≠])|(!)|"([^"]*)"?|((?:[^\s&|()<>=~≤≥≠"!]|!(?!=))+))/gy;
const SAME: ReadonlyMap<string, Relation> = new Map([
  ['==', '='],
  ['≤', '<='],
  ['≥', '>='],
  ['≠', '!=']
]);
const NUMBER = /^(\d+(?:\.\d*)?|\.\d+)(e[+-]?\d{1,3})?(?:([kmgt])(i?))?b?$/;
const POWERS: Readonly<Record<string, number>> = { k: 1, m: 2, g: 3, t: 4 };

/** `1e9`, `1.5K`, `10MB`, `4KiB`; NaN for anything else. */
export function queryNumber(text: string): number {
  const match = NUMBER.exec(text.toLowerCase());
  if (!match) {
    return Number.NaN;
  }
  const power = match[3] ? POWERS[match[3]] : 0;
  const value =
    Number(match[1] + (match[2] ?? '')) * (match[4] ? 1024 : 1000) ** power;
  return Number.isFinite(value) ? value : Number.NaN;
}

function tokens(text: string): IToken[] {
  const found: IToken[] = [];
  for (const match of text.matchAll(TOKEN)) {
    const [whole, mark, relation, not, quote, word] = match;
    const shown = mark ?? relation ?? not ?? quote ?? word ?? '';
    const at = match.index + (whole.length - whole.trimStart().length);
    const kind = mark
      ? (mark[0] as '&' | '|' | '(' | ')')
      : relation
        ? 'relation'
        : not
          ? '!'
          : quote !== undefined
            ? 'quote'
            : 'word';
    found.push({ kind, text: shown, at });
  }
  return found;
}

class Fault extends Error {
  constructor(readonly fault: IQueryFault) {
    super(fault.kind);
  }
}

class Parser {
  private readonly list: readonly IToken[];
  private at = 0;

  constructor(private readonly text: string) {
    this.list = tokens(text);
  }

  whole(): Query | null {
    if (this.list.length === 0) {
      return null;
    }
    const query = this.either(0);
    const rest = this.list[this.at];
    if (rest) {
      throw this.wrong('unopened', rest);
    }
    return query;
  }

  private either(depth: number): Query {
    const parts = [this.every(depth)];
    while (this.list[this.at]?.kind === '|') {
      this.at++;
      parts.push(this.every(depth));
    }
    return parts.length === 1 ? parts[0] : { kind: 'or', parts };
  }

  private every(depth: number): Query {
    const parts = [this.single(depth)];
    for (;;) {
      const next = this.list[this.at]?.kind;
      if (next === undefined || next === '|' || next === ')') {
        return parts.length === 1 ? parts[0] : { kind: 'and', parts };
      }
      this.at += Number(next === '&');
      parts.push(this.single(depth));
    }
  }

  private single(depth: number): Query {
    let negated = false;
    for (; this.list[this.at]?.kind === '!'; this.at++) {
      negated = !negated;
    }
    const part = this.term(depth);
    return negated ? { kind: 'not', part } : part;
  }

  private term(depth: number): Query {
    const token = this.list[this.at];
    if (token === undefined) {
      throw this.wrong('no-term', { at: this.text.length, text: '' });
    }
    if (token.kind === '(') {
      if (depth >= MAX_DEPTH) {
        throw this.wrong('too-deep', token);
      }
      this.at++;
      const inner = this.either(depth + 1);
      if (this.list[this.at]?.kind !== ')') {
        throw this.wrong('unclosed', token);
      }
      this.at++;
      return inner;
    }
    if (token.kind === 'relation') {
      throw this.wrong('no-field', token);
    }
    if (token.kind !== 'word' && token.kind !== 'quote') {
      throw this.wrong('no-term', token);
    }
    this.at++;
    if (this.list[this.at]?.kind === 'relation') {
      return this.condition(token, this.list[this.at++]);
    }
    const text = wordText(token.text);
    return { kind: 'word', text, exact: token.kind === 'quote' };
  }

  private condition(name: IToken, relationToken: IToken): ICondition {
    const field = name.kind === 'word' ? fieldOf(name.text) : null;
    if (field === null) {
      throw this.wrong('unknown-field', name);
    }
    const value = this.list[this.at];
    if (value?.kind !== 'word' && value?.kind !== 'quote') {
      throw this.wrong('no-value', relationToken);
    }
    this.at++;
    const written = relationToken.text;
    const relation = SAME.get(written) ?? (written as Relation);
    const number = value.kind === 'word' ? queryNumber(value.text) : Number.NaN;
    const unknown =
      value.kind === 'word' && value.text === '?' && relation === '=';
    const ordered = relation !== '=' && relation !== '!=' && relation !== '~';
    if (field.type === 'text' && ordered) {
      throw this.wrong('text-order', relationToken);
    }
    if (field.type === 'number' && relation === '~') {
      throw this.wrong('number-part', relationToken);
    }
    const mustBeNumber =
      field.type === 'number' || (field.type === 'size' && ordered);
    if (mustBeNumber && Number.isNaN(number) && !unknown) {
      throw this.wrong('not-a-number', value);
    }
    const text = wordText(value.text);
    return { kind: 'condition', field, relation, text, number, unknown };
  }

  private wrong(
    kind: IQueryFault['kind'],
    { at, text }: { at: number; text: string }
  ): Fault {
    return new Fault({ kind, at, text });
  }
}

/** Lower case, and shapes as the model writes them: `64x3x7x7` is `64×3×7×7`. */
function wordText(text: string): string {
  const lower = text.trim().toLowerCase();
  return /^[\d?]+(?:x[\d?]+)+$/.test(lower)
    ? lower.replaceAll('x', '×')
    : lower;
}

/** Reads a query. An empty one is not a query; a wrong one has a fault. Never throws. */
export function parseQuery(text: string): Parsed {
  try {
    return { query: new Parser(text).whole(), fault: null };
  } catch (error) {
    if (error instanceof Fault) {
      return { query: null, fault: error.fault };
    }
    throw error;
  }
}

/** True when the query compares a field, not words alone. */
export function hasConditions(query: Query): boolean {
  switch (query.kind) {
    case 'word':
      return false;
    case 'condition':
      return true;
    case 'not':
      return hasConditions(query.part);
    default:
      return query.parts.some(hasConditions);
  }
}

/** True when some word must be found, so that matches have an order of merit. */
export function hasWords(query: Query): boolean {
  switch (query.kind) {
    case 'word':
      return true;
    case 'condition':
      return false;
    case 'not':
      return hasWords(query.part);
    default:
      return query.parts.some(hasWords);
  }
}
