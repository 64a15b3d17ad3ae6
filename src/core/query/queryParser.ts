/**
 * The grammar of searches and filters: words and conditions, joined by `&`, `|`, `!` and parentheses.
 *
 *     conv "exact name"              words that all must match
 *     op=Conv & macs>1e8             conditions on fields
 *     in[0].shape[1]>=256 | !(op~norm)
 *
 * Adjacent terms must all match, as if joined by `&`, which binds tighter than `|`. Texts are compared
 * case-insensitively: `=` matches the whole text (`*` is a wildcard), `~` a part of it. `=?` finds
 * unknown values. `queryFields.ts` defines the fields.
 */

import { fieldOf, type IField } from './queryFields';
import { ownValue } from '../base/ownValue';

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
  /** The value as a number; NaN if it is not one. */
  readonly number: number;
  /** `=?`: matches unknown values. */
  readonly unknown: boolean;
}

/** A syntax error in a query, to be worded by the UI. */
export interface IQuerySyntaxError {
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
  /** Position, in characters from 0. */
  readonly position: number;
  /** The text at that position. */
  readonly text: string;
}

export type ParseResult =
  | { readonly query: Query | null; readonly fault: null }
  | { readonly query: null; readonly fault: IQuerySyntaxError };

interface IToken {
  readonly kind: '&' | '|' | '!' | '(' | ')' | 'relation' | 'quote' | 'word';
  readonly text: string;
  readonly position: number;
}

/** Maximum nesting of parentheses. */
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
  const power = ownValue(POWERS, match[3] ?? '') ?? 0;
  const value =
    Number(match[1] + (match[2] ?? '')) * (match[4] ? 1024 : 1000) ** power;
  return Number.isFinite(value) ? value : Number.NaN;
}

function tokens(text: string): IToken[] {
  const result: IToken[] = [];
  for (const match of text.matchAll(TOKEN)) {
    const [text, bracket, relation, not, quote, word] = match;
    const symbol = bracket ?? relation ?? not ?? quote ?? word ?? '';
    const position = match.index + (text.length - text.trimStart().length);
    const kind = bracket
      ? (bracket[0] as '&' | '|' | '(' | ')')
      : relation
        ? 'relation'
        : not
          ? '!'
          : quote !== undefined
            ? 'quote'
            : 'word';
    result.push({ kind, text: symbol, position });
  }
  return result;
}

class QueryFault extends Error {
  constructor(readonly fault: IQuerySyntaxError) {
    super(fault.kind);
  }
}

class QueryParser {
  private readonly _list: readonly IToken[];
  private _at = 0;

  constructor(private readonly _text: string) {
    this._list = tokens(_text);
  }

  parseAll(): Query | null {
    if (this._list.length === 0) {
      return null;
    }
    const query = this._parseOr(0);
    const next = this._list[this._at];
    if (next) {
      throw this._wrong('unopened', next);
    }
    return query;
  }

  private _parseOr(depth: number): Query {
    const parts = [this._parseAnd(depth)];
    while (this._list[this._at]?.kind === '|') {
      this._at++;
      parts.push(this._parseAnd(depth));
    }
    return parts.length === 1 ? parts[0] : { kind: 'or', parts };
  }

  private _parseAnd(depth: number): Query {
    const parts = [this._parseUnary(depth)];
    for (;;) {
      const next = this._list[this._at]?.kind;
      if (next === undefined || next === '|' || next === ')') {
        return parts.length === 1 ? parts[0] : { kind: 'and', parts };
      }
      this._at += Number(next === '&');
      parts.push(this._parseUnary(depth));
    }
  }

  private _parseUnary(depth: number): Query {
    let negated = false;
    for (; this._list[this._at]?.kind === '!'; this._at++) {
      negated = !negated;
    }
    const operand = this._term(depth);
    return negated ? { kind: 'not', part: operand } : operand;
  }

  private _term(depth: number): Query {
    const token = this._list[this._at];
    if (token === undefined) {
      throw this._wrong('no-term', { position: this._text.length, text: '' });
    }
    if (token.kind === '(') {
      if (depth >= MAX_DEPTH) {
        throw this._wrong('too-deep', token);
      }
      this._at++;
      const inner = this._parseOr(depth + 1);
      if (this._list[this._at]?.kind !== ')') {
        throw this._wrong('unclosed', token);
      }
      this._at++;
      return inner;
    }
    if (token.kind === 'relation') {
      throw this._wrong('no-field', token);
    }
    if (token.kind !== 'word' && token.kind !== 'quote') {
      throw this._wrong('no-term', token);
    }
    this._at++;
    if (this._list[this._at]?.kind === 'relation') {
      return this._condition(token, this._list[this._at++]);
    }
    const text = wordText(token.text);
    return { kind: 'word', text, exact: token.kind === 'quote' };
  }

  private _condition(name: IToken, relationToken: IToken): ICondition {
    const field = name.kind === 'word' ? fieldOf(name.text) : null;
    if (field === null) {
      throw this._wrong('unknown-field', name);
    }
    const value = this._list[this._at];
    if (value?.kind !== 'word' && value?.kind !== 'quote') {
      throw this._wrong('no-value', relationToken);
    }
    this._at++;
    const relationText = relationToken.text;
    const relation = SAME.get(relationText) ?? (relationText as Relation);
    const number = value.kind === 'word' ? queryNumber(value.text) : Number.NaN;
    const unknown =
      value.kind === 'word' && value.text === '?' && relation === '=';
    const ordered = relation !== '=' && relation !== '!=' && relation !== '~';
    if (field.type === 'text' && ordered) {
      throw this._wrong('text-order', relationToken);
    }
    if (field.type === 'number' && relation === '~') {
      throw this._wrong('number-part', relationToken);
    }
    const mustBeNumber =
      field.type === 'number' || (field.type === 'size' && ordered);
    if (mustBeNumber && Number.isNaN(number) && !unknown) {
      throw this._wrong('not-a-number', value);
    }
    const text = wordText(value.text);
    return { kind: 'condition', field, relation, text, number, unknown };
  }

  private _wrong(
    kind: IQuerySyntaxError['kind'],
    { position, text }: { position: number; text: string }
  ): QueryFault {
    return new QueryFault({ kind, position, text });
  }
}

/** Lower case, with shapes as the model writes them: `64x3x7x7` becomes `64×3×7×7`. */
function wordText(text: string): string {
  const lower = text.trim().toLowerCase();
  return /^[\d?]+(?:x[\d?]+)+$/.test(lower)
    ? lower.replaceAll('x', '×')
    : lower;
}

/** Parses a query. An empty text gives no query; an invalid one gives an error. Never throws. */
export function parseQuery(text: string): ParseResult {
  try {
    return { query: new QueryParser(text).parseAll(), fault: null };
  } catch (error) {
    if (error instanceof QueryFault) {
      return { query: null, fault: error.fault };
    }
    throw error;
  }
}

/** True if the query compares a field, rather than only words. */
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

/** True if the query has a word that must match, so that matches can be ranked. */
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
