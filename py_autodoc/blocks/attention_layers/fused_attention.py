"""Fused attention operators: ai.onnx Attention and those of ONNX Runtime (docs/ContribOperators.md)."""

from __future__ import annotations

from dataclasses import dataclass

from py_autodoc.blocks.attention_layers import attention_source
from py_autodoc.blocks.attention_layers.attention_mask import classify_mask, mask_tensors
from py_autodoc.blocks.attention_layers.qkv_operands import trace_operand
from py_autodoc.blocks.dataflow.dataflow_graph import DataflowGraph
from py_autodoc.blocks.dataflow.matrix_products import MS, dim, size
from py_autodoc.blocks.results import AttentionLayer
from py_autodoc.graph.ir.model import Dim, TensorKind


@dataclass(frozen=True, slots=True)
class _Form:
    """Attribute names and input positions of a fused operator."""

    heads: str = "num_heads"
    kv_heads: str = ""
    causal: str = ""
    """Attribute that makes it causal; ``always`` for operators that always are."""
    projects: bool = False
    """Input 0 is the stream, input 1 the weight of Q, K and V."""
    masks: tuple[int, ...] = ()
    biases: tuple[int, ...] = ()
    """Tensors added to the scores."""
    past: tuple[int, ...] = ()
    total: int = -1
    """Output whose axis 2 is the total number of keys."""
    packed: bool = False
    """Key and value may be missing; input 0 then holds Q, K and V."""


FUSED: dict[str, _Form] = {
    "Attention": _Form("q_num_heads", "kv_num_heads", "is_causal", biases=(3,), past=(4, 5), total=1),
    "ai.onnx.preview::FlexAttention": _Form("q_num_heads", "kv_num_heads"),
    "LinearAttention": _Form("q_num_heads", "kv_num_heads", "always", past=(3,)),
    f"{MS}Attention": _Form(causal="unidirectional", projects=True, masks=(3,), biases=(5,), past=(4,)),
    f"{MS}QAttention": _Form(causal="unidirectional", projects=True, masks=(5,), past=(8,)),
    f"{MS}PackedAttention": _Form(projects=True, biases=(5,)),
    f"{MS}DecoderMaskedSelfAttention": _Form(
        causal="always", projects=True, masks=(3,), biases=(5,), past=(4,)
    ),
    f"{MS}LongformerAttention": _Form(projects=True, masks=(2,)),
    f"{MS}MultiHeadAttention": _Form(
        causal="unidirectional", masks=(4,), biases=(5,), past=(6, 7), total=1, packed=True
    ),
    f"{MS}DecoderMaskedMultiHeadAttention": _Form(masks=(3,), biases=(4,), past=(5, 6), total=1, packed=True),
    f"{MS}PackedMultiHeadAttention": _Form(biases=(6,), packed=True),
    f"{MS}GroupQueryAttention": _Form(
        kv_heads="kv_num_heads", causal="always", biases=(10,), past=(3, 4), total=1, packed=True
    ),
    f"{MS}SparseAttention": _Form(
        kv_heads="kv_num_heads", causal="always", past=(3, 4), total=1, packed=True
    ),
}
"""Forms by operator. Grouped-query and sparse attention of ONNX Runtime are causal by definition."""


def fused_attention_at(flow: DataflowGraph, number: int) -> AttentionLayer | None:
    """Return the attention layer of a fused operator; None if its first input is missing."""
    form, node = FUSED[flow.qualified_op_types[number]], flow.nodes[number]
    if not node.inputs or node.inputs[0] < 0 or not node.outputs or node.outputs[0] < 0:
        return None
    call = _Call(flow, number, form)
    return call.projecting() if form.projects else call.separate()


class _Call:
    """A fused node while it is read."""

    def __init__(self, flow: DataflowGraph, number: int, form: _Form) -> None:
        self.flow = flow
        self.number = number
        self.form = form
        self.node = flow.nodes[number]
        self.op = flow.qualified_op_types[number]

    def _input(self, index: int) -> int:
        return self.node.inputs[index] if 0 <= index < len(self.node.inputs) else -1

    def _int_attribute(self, name: str) -> int | None:
        value = self.node.attributes.get(name) if name else None
        return value if isinstance(value, int) and value > 0 else None

    def _causal(self, from_mask: bool | None) -> bool | None:
        if self.form.causal == "always" or (self.form.causal and self._int_attribute(self.form.causal)):
            return True
        return None if self.node.subgraphs else from_mask  # subgraphs that change the scores are not read

    def _past(self) -> tuple[int, ...]:
        """Return the graph inputs that feed the cache inputs."""
        tensors, past = self.flow.model.tensors, []
        for index in self.form.past:
            tensor = self._input(index)
            if tensor >= 0:
                tensor = self.flow.back(tensor)
                if tensors[tensor].kind == TensorKind.INPUT:
                    past.append(tensor)
        return tuple(dict.fromkeys(past))

    def _as_layer(
        self,
        *,
        kind: str,
        heads: int | None,
        kv_heads: int | None,
        sizes: tuple[int | None, int | None],
        hidden: int | None,
        queries: Dim,
        rotary: bool,
        nodes: set[int],
    ) -> AttentionLayer:
        form = self.form
        added = [t for index in form.biases if (t := self._input(index)) >= 0]
        judged = classify_mask(self.flow, added, heads, queries)
        operands = [t for index in form.masks if (t := self._input(index)) >= 0]
        # A separate mask operand hides the same keys for all queries, or is passed by the caller.
        causal = None if operands and judged.causal is False and not self._is_padding() else judged.causal
        return AttentionLayer(
            nodes=tuple(sorted({self.number, *nodes})),
            anchor=self.number,
            variant="fused",
            kind=kind,
            causal=self._causal(causal),
            heads=heads,
            kv_heads=kv_heads,
            head_dim=sizes[0],
            value_dim=sizes[1],
            hidden_size=hidden,
            queries=queries,
            keys=self._keys(queries, kind),
            mask=judged.mask or bool(operands),
            masks=mask_tensors(self.flow, (*operands, *added)),
            rotary=rotary or bool(self._int_attribute("do_rotary")),
            relative_bias=judged.relative_bias,
            past=self._past(),
        )

    def _is_padding(self) -> bool:
        """True if every mask operand has one row per sequence: key padding."""
        shapes = [self.flow.shapes[t] for index in self.form.masks if (t := self._input(index)) >= 0]
        return all(shape is not None and len(shape) <= 2 for shape in shapes)

    def _keys(self, queries: Dim, kind: str) -> Dim:
        """Return the number of keys: from the cache output, else from the key input, else the query count."""
        form, node = self.form, self.node
        if 0 < form.total < len(node.outputs) and node.outputs[form.total] >= 0:
            cache_shape = self.flow.shapes[node.outputs[form.total]]
            if cache_shape is not None and len(cache_shape) == 4:
                return cache_shape[2]
        if any(self._input(index) >= 0 for index in form.past):
            return None
        key = -1 if form.projects else self._input(1)
        if key < 0:
            return queries if kind == "self" else None
        shape = self.flow.shapes[key]
        if shape is None or len(shape) not in (3, 4):
            return None
        return shape[2] if len(shape) == 4 else shape[1]

    def projecting(self) -> AttentionLayer:
        """Read an operator that contains the weight of Q, K and V."""
        flow, x, weight = self.flow, self._input(0), self._input(1)
        heads = self._int_attribute("num_heads")
        widths = self.node.attributes.get("qkv_hidden_sizes")
        q_width = v_width = None
        if isinstance(widths, list | tuple) and len(widths) == 3:
            q_width, v_width = widths[0], widths[2]
        elif weight >= 0 and (packed := size(flow, weight, -1)) is not None:
            # Longformer's weight is (D, 3·D) as well; the global one is separate.
            q_width = v_width = packed // 3
        shape = flow.shapes[x]
        return self._as_layer(
            kind="self",
            heads=heads,
            kv_heads=heads,
            sizes=(_share(q_width, heads), _share(v_width, heads)),
            hidden=size(flow, x, -1),
            queries=shape[1] if shape is not None and len(shape) == 3 else None,
            rotary=False,
            nodes=set(),
        )

    def separate(self) -> AttentionLayer:
        """Read an operator with separate Q, K and V."""
        flow, query = self.flow, self._input(0)
        key, value = self._input(1), self._input(2)
        heads, kv = self._int_attribute(self.form.heads), self._int_attribute(self.form.kv_heads)
        shape = flow.shapes[query]
        rank = len(shape) if shape is not None else 0
        if self.node.domain != "com.microsoft" and rank == 4:
            heads, kv = size(flow, query, -3), size(flow, key, -3) if key >= 0 else None
        kv = kv or heads if not self.form.kv_heads else kv
        q = trace_operand(flow, query)
        k = trace_operand(flow, key) if key >= 0 else q
        v = trace_operand(flow, value) if value >= 0 else k
        return self._as_layer(
            kind=attention_source.attention_kind(flow, q, k, v) if key >= 0 else "self",
            heads=heads,
            kv_heads=kv,
            sizes=self._sizes(heads, kv, rank, query, key, value),
            hidden=attention_source.hidden_size(flow, q, self.node.outputs[0]),
            queries=self._queries(rank, query),
            rotary=q.rotary,
            nodes={*q.nodes, *k.nodes, *v.nodes},
        )

    def _queries(self, rank: int, query: int) -> Dim:
        if rank == 4 and self.node.domain != "com.microsoft":
            return dim(self.flow, query, -2)
        return dim(self.flow, query, 1 - rank) if rank in (3, 5) else None

    def _sizes(
        self, heads: int | None, kv: int | None, rank: int, query: int, key: int, value: int
    ) -> tuple[int | None, int | None]:
        """Return (head size of Q and K, head size of V)."""
        flow = self.flow
        width = size(flow, query, -1)
        if rank > 3:
            last = size(flow, value, -1) if value >= 0 else width
            return width, last
        if key < 0:  # packed: heads · d for Q, kv heads · d each for K and V
            total = heads + 2 * kv if heads and kv else None
            return _share(width, total), _share(width, total)
        head = _share(width, heads)
        if value < 0:
            return head, head
        rank_v = len(flow.shapes[value] or ())
        last = size(flow, value, -1)
        return head, last if rank_v == 4 else _share(last, kv)


def _share(width: object, heads: int | None) -> int | None:
    """Return the size per head; None if the width is not divisible."""
    if not isinstance(width, int) or not heads or width < 1 or width % heads:
        return None
    return width // heads
