"""Rules meet models that lie: odd ranks, zero and huge sizes, attributes of any type."""

from __future__ import annotations

import random

import numpy as np
import onnx
import pytest

from py_autodoc.costs.engine import MAX_NUMBER, cost_table, totals
from py_autodoc.costs.liveness import peak_activation
from py_autodoc.costs.params import count_params
from py_autodoc.costs.registry import registered
from py_autodoc.graph.ir.model import FileFacts, Model, Node, SubGraph, Tensor, TensorKind, TypeTable

NAMES = sorted(
    {name for s in onnx.defs.get_all_schemas_with_history() for name in s.attributes}
    | {"K", "N", "bits", "num_heads", "kv_num_heads", "k", "expert_weight_bits", "signal_ndim", "window"}
)
VALUES = [
    0,
    1,
    -1,
    3,
    1 << 62,
    2.5,
    float("nan"),
    "x",
    "linear",
    [],
    [0, 0],
    [2, 2],
    ["a"],
    [1.5],
    None,
    b"raw",
]
SIZES = [0, 1, 2, 3, 8, 1 << 40, "n", None]


def one_node(domain: str, op: str, seed: int) -> tuple[Model, TypeTable]:
    """A model of one node with random everything."""
    rng = random.Random(f"{domain}{op}{seed}")
    n_in, n_out = rng.randrange(0, 9), rng.randrange(0, 4)
    ids = [i if rng.random() < 0.9 else -1 for i in range(n_in + n_out)]
    shapes = []
    for _ in ids:
        rank = rng.randrange(0, 6)
        ints = rng.random() < 0.8
        shapes.append(
            None
            if rng.random() < 0.05
            else tuple(rng.choice(SIZES[:5] if ints else SIZES) for _ in range(rank))
        )
    values = {
        i: np.array(rng.choice([[], [0], [-5], [3, 4], 7, 1 << 62]))
        for i in range(n_in)
        if rng.random() < 0.3
    }
    attributes = {name: rng.choice(VALUES) for name in rng.sample(NAMES, 40)}
    node = Node(
        0, 0, "n", op, domain, tuple(ids[:n_in]), tuple(ids[n_in:]), attributes, opset=rng.randrange(0, 27)
    )
    kinds = [TensorKind.INITIALIZER if i < n_in and rng.random() < 0.3 else TensorKind.ACTIVATION
             for i in range(len(ids))]  # fmt: skip
    tensors = tuple(
        Tensor(i, f"t{i}", 0, kinds[i],
               consumers=(0,) if i < n_in else (), producer=-1 if i < n_in else 0)
        for i in range(len(ids))
    )  # fmt: skip
    graph = SubGraph(0, "g", nodes=(0,))
    facts = FileFacts("m", 0, 0, "")
    model = Model(facts, 10, {}, "", "", "", 0, "", {}, (graph,), (node,), tensors, {}, ())
    dtypes = [rng.choice([0, 1, 2, 3, 7, 8, 9, 10, 22, 99]) for _ in ids]
    return model, TypeTable(dtypes, shapes, values)


@pytest.mark.parametrize(("domain", "op"), sorted(registered()))
def test_no_rule_raises_or_answers_nonsense(domain: str, op: str) -> None:
    for seed in range(40):
        model, types = one_node(domain, op, seed)
        table = cost_table(model, types)
        entry = table.nodes[0]
        if entry.cost is None:
            assert entry.reason
        else:
            assert 0 <= 2 * entry.cost.macs <= entry.cost.flops <= MAX_NUMBER
            for moved in (entry.cost.read_bytes, entry.cost.write_bytes):
                assert moved is None or 0 <= moved <= MAX_NUMBER
        assert table.diagnostics == ()  # the rule itself said what does not fit
        totals(model, table.nodes)
        count_params(model, types)
        peak_activation(model, types)
