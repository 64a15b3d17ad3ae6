/**
 * Orders nodes so that producers come before readers, as close as possible to their preferred positions.
 */

/** A heap of nodes, ordered by position. */
class PlaceHeap {
  private readonly _heap: number[] = [];

  constructor(private readonly _places: readonly number[]) {}

  get size(): number {
    return this._heap.length;
  }

  push(node: number): void {
    const heap = this._heap;
    let position = heap.push(node) - 1;
    while (position > 0) {
      const above = (position - 1) >> 1;
      if (!this._before(heap[position], heap[above])) {
        break;
      }
      [heap[position], heap[above]] = [heap[above], heap[position]];
      position = above;
    }
  }

  pop(): number {
    const heap = this._heap;
    const first = heap[0];
    const last = heap.pop()!;
    if (heap.length > 0) {
      heap[0] = last;
      let position = 0;
      for (;;) {
        const left = 2 * position + 1;
        let least = position;
        for (const below of [left, left + 1]) {
          if (below < heap.length && this._before(heap[below], heap[least])) {
            least = below;
          }
        }
        if (least === position) {
          break;
        }
        [heap[position], heap[least]] = [heap[least], heap[position]];
        position = least;
      }
    }
    return first;
  }

  private _before(a: number, b: number): boolean {
    const by = this._places[a] - this._places[b];
    return by < 0 || (by === 0 && a < b);
  }
}

/**
 * Returns the nodes in order. `reads` and `writes` are tensors by node. Cycles, which the merged wires of
 * two models may form, are cut at the node with the first position.
 */
export function mergeOrder(
  reads: readonly (readonly number[])[],
  writes: readonly (readonly number[])[],
  positions: readonly number[]
): number[] {
  const producer = new Map<number, number>();
  writes.forEach((tensors, node) => {
    for (const tensor of tensors) {
      if (tensor >= 0) {
        producer.set(tensor, node);
      }
    }
  });
  const open = new Int32Array(reads.length);
  const readers: number[][] = reads.map(() => []);
  reads.forEach((tensors, node) => {
    for (const tensor of tensors) {
      const from = producer.get(tensor);
      if (from !== undefined && from !== node) {
        open[node]++;
        readers[from].push(node);
      }
    }
  });
  const ready = new PlaceHeap(positions);
  const isPlaced = new Uint8Array(reads.length);
  const byPlace = [...reads.keys()].sort(
    (a, b) => positions[a] - positions[b] || a - b
  );
  byPlace.filter(node => open[node] === 0).forEach(node => ready.push(node));
  const order: number[] = [];
  let next = 0;
  while (order.length < reads.length) {
    if (ready.size === 0) {
      while (isPlaced[byPlace[next]]) {
        next++;
      }
      open[byPlace[next]] = 0;
      ready.push(byPlace[next]);
    }
    const node = ready.pop();
    if (isPlaced[node]) {
      continue;
    }
    isPlaced[node] = 1;
    order.push(node);
    for (const reader of readers[node]) {
      if (--open[reader] === 0 && !isPlaced[reader]) {
        ready.push(reader);
      }
    }
  }
  return order;
}
