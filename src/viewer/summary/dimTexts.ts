/** Texts of the dimension inputs: parsing, and which ones follow from others. */

import type { DimInfo } from '../../schema';
import { isBinding } from '../state/snapshot';
import { ownValue } from '../../core/base/ownValue';

export type Texts = ReadonlyMap<string, string>;
export type DimSizes = Readonly<Record<string, number>>;

/** Parses a size; null if the text is not one. */
export function parseSize(text: string): number | null {
  const value = /^\d{1,10}$/.test(text.trim()) ? Number(text) : Number.NaN;
  return isBinding(value) ? value : null;
}

/** The initial text of a symbol's input. */
export function textOf(dim: DimInfo): string {
  return dim.value === null ? '' : String(dim.value);
}

export function textsOf(dims: readonly DimInfo[]): Texts {
  return new Map(dims.map(dim => [dim.name, textOf(dim)]));
}

/** The texts after one was changed, with those that follow from it. */
export function withChange(
  dims: readonly DimInfo[],
  texts: Texts,
  name: string,
  text: string
): Texts {
  const next = new Map(texts).set(name, text);
  for (const { name: other, follows } of dims) {
    if (!follows || other === name || !Object.hasOwn(follows.factors, name)) {
      continue;
    }
    let total: number | null = follows.plus;
    for (const [dim, factor] of Object.entries(follows.factors)) {
      const size = parseSize(next.get(dim) ?? '');
      total = size === null || total === null ? null : total + factor * size;
    }
    next.set(other, total === null || total < 0 ? '' : String(total));
  }
  return next;
}

/** The sizes in the inputs, as own properties, whatever a symbol is called. */
export function sizesOf(dims: readonly DimInfo[], texts: Texts): DimSizes {
  return Object.fromEntries(
    dims.flatMap(({ name }) => {
      const size = parseSize(texts.get(name) ?? '');
      return size === null ? [] : [[name, size] as const];
    })
  );
}

/**
 * The sizes set by the user: without assumed ones that were not changed, and without those that follow
 * from others.
 */
export function givenSizes(
  dims: readonly DimInfo[],
  texts: Texts,
  bindings: DimSizes
): DimSizes {
  const sizes = sizesOf(dims, texts);
  return Object.fromEntries(
    dims
      .filter(dim => Object.hasOwn(sizes, dim.name))
      .filter(
        dim =>
          Object.hasOwn(bindings, dim.name) ||
          (!dim.follows &&
            !(dim.assumed && texts.get(dim.name) === textOf(dim)))
      )
      .flatMap(dim => {
        const size = ownValue(sizes, dim.name);
        return size === undefined ? [] : [[dim.name, size] as const];
      })
  );
}
