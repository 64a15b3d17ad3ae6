/** Compressed rows: the values of row i are `values[offsets[i] … offsets[i+1])`. */
export interface ICsrRows {
  readonly offsets: Int32Array;
  readonly values: Int32Array;
}

/** Groups `values[i]` by `keys[i]` (0 … rows-1), keeping their order. Linear time. */
export function groupBy(
  rows: number,
  keys: ArrayLike<number>,
  values: ArrayLike<number>
): ICsrRows {
  const offsets = new Int32Array(rows + 1);
  for (let i = 0; i < keys.length; i++) {
    offsets[keys[i] + 1]++;
  }
  for (let row = 0; row < rows; row++) {
    offsets[row + 1] += offsets[row];
  }
  const next = offsets.slice(0, rows);
  const grouped = new Int32Array(keys.length);
  for (let i = 0; i < keys.length; i++) {
    grouped[next[keys[i]]++] = values[i];
  }
  return { offsets, values: grouped };
}

/** Groups the positions 0 … keys.length-1 by key. */
export function indexBy(rows: number, keys: ArrayLike<number>): ICsrRows {
  const positions = new Int32Array(keys.length);
  for (let i = 0; i < positions.length; i++) {
    positions[i] = i;
  }
  return groupBy(rows, keys, positions);
}

/** A growable list of ints that avoids boxing. */
export class IntList {
  get length(): number {
    return this._length;
  }

  push(value: number): void {
    if (this._length === this._data.length) {
      const larger = new Int32Array(this._data.length * 2);
      larger.set(this._data);
      this._data = larger;
    }
    this._data[this._length++] = value;
  }

  at(index: number): number {
    return this._data[index];
  }

  set(index: number, value: number): void {
    this._data[index] = value;
  }

  clear(): void {
    this._length = 0;
  }

  toArray(): Int32Array {
    return this._data.slice(0, this._length);
  }

  private _data = new Int32Array(16);
  private _length = 0;
}
