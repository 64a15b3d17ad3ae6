/** Reads, copies and writes columns of payloads, and finds corresponding tensors of two payloads. */

import type { GraphPayload } from '../../schema';

/** Copies columns so that they can be extended without changing the original. */
export function copyColumns<T extends object>(columns: T): T {
  return Object.fromEntries(
    Object.entries(columns).map(([name, column]) => [
      name,
      Array.isArray(column)
        ? column.map((item: unknown) =>
            Array.isArray(item) ? [...item] : item
          )
        : column
    ])
  ) as T;
}

/** Tensors that a node reads or writes; -1 is an omitted input. */
export function row(
  { nodes }: GraphPayload,
  kind: 'input' | 'output',
  node: number
): number[] {
  const [offsets, values] =
    kind === 'input'
      ? [nodes.input_offsets, nodes.inputs]
      : [nodes.output_offsets, nodes.outputs];
  return values.slice(offsets[node], offsets[node + 1]);
}

/** Concatenates rows; returns the offset of each. */
export function toCsr(rows: readonly (readonly number[])[]): {
  offsets: number[];
  values: number[];
} {
  const offsets = [0];
  const values: number[] = [];
  for (const items of rows) {
    for (const value of items) {
      values.push(value);
    }
    offsets.push(values.length);
  }
  return { offsets, values };
}

/** By pair: tensors read outside it, in the order of its nodes, or else all that it produces. */
export function pairOutputs(
  payload: GraphPayload,
  column: readonly number[]
): number[][] {
  const { nodes, tensors, graphs } = payload;
  const leaves = new Set([tensors.outputs, ...graphs.outputs].flat());
  nodes.op.forEach((_, node) => {
    for (const tensor of row(payload, 'input', node)) {
      const producer = tensor < 0 ? -1 : tensors.producer[tensor];
      if (producer >= 0 && column[producer] !== column[node]) {
        leaves.add(tensor);
      }
    }
  });
  const rows: number[][] = [];
  const outputs: number[][] = [];
  column.forEach((pair, node) => {
    if (pair >= 0) {
      const tensors = row(payload, 'output', node).filter(
        tensor => tensor >= 0
      );
      (outputs[pair] ??= []).push(...tensors);
      (rows[pair] ??= []).push(...tensors.filter(tensor => leaves.has(tensor)));
    }
  });
  return Array.from(outputs, (tensors, pair) =>
    rows[pair]?.length ? rows[pair] : (tensors ?? [])
  );
}

/** Maps the second model's inputs to the first's: by name, else by position if both have equally many. */
export function sameInputs(
  a: GraphPayload,
  b: GraphPayload
): Map<number, number> {
  const [inputs, otherInputs] = [a, b].map(payload => payload.tensors.inputs);
  const byName = new Map(
    inputs.map(tensor => [a.tensors.name[tensor], tensor])
  );
  const pairs = new Map<number, number>();
  otherInputs.forEach((tensor, index) => {
    const named = byName.get(b.tensors.name[tensor]);
    const counterpart =
      inputs.length === otherInputs.length ? inputs[index] : undefined;
    const match = named ?? counterpart;
    if (match !== undefined) {
      pairs.set(tensor, match);
    }
  });
  return pairs;
}
