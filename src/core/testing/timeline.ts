/** A timeline for a synthetic payload: one step per node, tensors live from producer to last reader. */

import type { GraphPayload, TimelineColumns } from '../../schema';

export function timelineOf(
  { nodes, tensors }: GraphPayload,
  memory: Record<string, number> = {}
): TimelineColumns {
  const node = nodes.op.map((_, id) => id);
  const last = tensors.name.map((_, id) =>
    tensors.kind[id] === 2 ? -2 : tensors.producer[id]
  );
  node.forEach(id => {
    const end = nodes.input_offsets[id + 1];
    for (const tensor of nodes.inputs.slice(nodes.input_offsets[id], end)) {
      last[tensor] = tensors.kind[tensor] === 2 ? -2 : id;
    }
  });
  return {
    node,
    simple_bytes: node.map(id => 128 + 32 * (id % 3)),
    inplace_bytes: node.map(id => 64 + 32 * (id % 3)),
    body_step: [],
    body_simple_bytes: [],
    body_inplace_bytes: [],
    tensor_last: last,
    tensor_memory: memory
  };
}
