/** Caches layouts by geometry: equal blocks of a model are laid out once. */

import type {
  ILayoutInput,
  ILayoutOptions,
  ILayoutResult
} from '../layered/layoutTypes';

interface IEntry {
  readonly input: ILayoutInput;
  readonly options: ILayoutOptions;
  readonly result: ILayoutResult;
}

/** Larger levels are not cached: they are rare, and their keys would use much memory. */
const MAX_CACHED_ITEMS = 5000;

function columns(input: ILayoutInput): ArrayLike<number>[] {
  return [
    input.width,
    input.height,
    input.pin,
    input.importance,
    input.source,
    input.target,
    input.sourceOffset,
    input.targetOffset,
    input.trunk
  ];
}

/** FNV-1a over the numbers, rounded to 1/64 px. */
function hash(input: ILayoutInput, { rankGap }: ILayoutOptions): number {
  let h = 0x811c9dc5 ^ Math.round(rankGap * 64);
  for (const column of columns(input)) {
    for (let i = 0; i < column.length; i++) {
      h = Math.imul(h ^ Math.round(column[i] * 64), 0x01000193);
    }
    h = Math.imul(h ^ column.length, 0x01000193);
  }
  return h >>> 0;
}

function sameOptions(a: ILayoutOptions, b: ILayoutOptions): boolean {
  return (
    a.rankGap === b.rankGap &&
    a.portGap === b.portGap &&
    a.portWidth === b.portWidth &&
    a.itemGap === b.itemGap &&
    a.wireGap === b.wireGap &&
    a.maxSpan === b.maxSpan &&
    a.sweeps === b.sweeps &&
    a.falls === b.falls
  );
}

function isSame(a: ILayoutInput, b: ILayoutInput): boolean {
  const otherColumns = columns(b);
  return columns(a).every((column, c) => {
    const other = otherColumns[c];
    if (column.length !== other.length) {
      return false;
    }
    for (let i = 0; i < column.length; i++) {
      if (column[i] !== other[i]) {
        return false;
      }
    }
    return true;
  });
}

export class LayoutCache {
  /** Number of cached and of computed results. */
  hits = 0;
  misses = 0;

  /** The cached result, or that of `compute`. */
  get(
    input: ILayoutInput,
    options: ILayoutOptions,
    compute: () => ILayoutResult | Promise<ILayoutResult>
  ): ILayoutResult | Promise<ILayoutResult> {
    if (input.itemCount > MAX_CACHED_ITEMS) {
      this.misses++;
      return compute();
    }
    const key = hash(input, options);
    const bucket = this._entries.get(key) ?? [];
    const cached = bucket.find(
      entry => sameOptions(entry.options, options) && isSame(entry.input, input)
    );
    if (cached) {
      this.hits++;
      return cached.result;
    }
    this.misses++;
    const store = (result: ILayoutResult) => {
      bucket.push({ input, options, result });
      this._entries.set(key, bucket);
      return result;
    };
    const computed = compute();
    return computed instanceof Promise ? computed.then(store) : store(computed);
  }

  private _entries = new Map<number, IEntry[]>();
}
