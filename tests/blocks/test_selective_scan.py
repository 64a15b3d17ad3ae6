"""Selective scans: the recurrence of Mamba, as exporters unroll it."""

from __future__ import annotations

import pytest
from graph_maker import G, flows_of, types_in
from written_out import F32, WIDTH, Builder

from py_autodoc import analyze
from py_autodoc.blocks.layer_blocks.selective_scan import find_selective_scans

CHANNELS, STATE = 8, 4


def scan(g: G, steps: int, *, decay: bool = True) -> str:
    """Δ, A and B·x over all positions, then one state after the other; the results side by side."""
    delta = g.op("MatMul", "x", g.weight(CHANNELS, CHANNELS))
    delta = g.op("Softplus", delta) if decay else g.op("Sigmoid", delta)
    wide = g.op("Unsqueeze", delta, g.ints(-1))
    a = g.op("Exp", g.op("Mul", wide, g.weight(CHANNELS, STATE)))
    bx = g.op("Mul", wide, g.op("Unsqueeze", "x", g.ints(-1)))
    c = g.op("MatMul", "x", g.weight(CHANNELS, STATE))
    state, results = g.weight(1, CHANNELS, STATE), []
    for step in range(steps):
        now = [g.op("Gather", t, g.value(step, "int64"), axis=1) for t in (a, bx, c)]
        state = g.op("Add", g.op("Mul", now[0], state), now[1])
        read = g.op("MatMul", state, g.op("Unsqueeze", now[2], g.ints(-1)))
        results.append(g.op("Unsqueeze", g.op("Squeeze", read, g.ints(-1)), g.ints(1)))
    return g.op("Concat", *results, axis=1)


@pytest.mark.parametrize("steps", [2, 5])
def test_a_scan_goes_from_the_step_size_to_the_joined_results(steps):
    g = G(x=(1, steps, CHANNELS))
    joined = scan(g, steps)
    flow = g.flow(g.op("MatMul", g.op("Add", joined, "x"), g.weight(CHANNELS, CHANNELS)))
    [block] = find_selective_scans(flow)
    assert (block.kind, block.variant, block.facts) == ("state-space", "selective-scan", {"state": STATE})
    kinds = types_in(flow, block)
    assert kinds.count("Softplus") == 1
    assert kinds.count("Concat") == 1
    assert kinds.count("MatMul") == steps, "the projections have weights and stay outside"
    assert [flow.node(flow.producer(t)).op_type for t in block.outputs] == ["Concat"]


def test_a_scan_whose_last_state_is_an_output():
    g = G(x=(1, 3, CHANNELS))
    joined = scan(g, 3)
    last = [node.output[0] for node in g.nodes if node.op_type == "Add"][-1]
    [block] = find_selective_scans(g.flow(joined, last))
    assert len(block.outputs) == 2


def test_without_the_decay_it_is_none():
    g = G(x=(1, 3, CHANNELS))
    assert find_selective_scans(g.flow(scan(g, 3, decay=False))) == []


def test_mamba():
    found = [block for flow in flows_of("mamba_tiny") for block in find_selective_scans(flow)]
    assert [block.facts["state"] for block in found] == [16, 16]
    assert not set(found[0].nodes) & set(found[1].nodes)


@pytest.mark.parametrize("name", ["bert_base", "resnet50", "swift_f0"])
def test_other_models_have_none(name):
    assert all(not find_selective_scans(flow) for flow in flows_of(name))


HEAD_COUNT, KEPT, WIDE, POSITIONS = 4, 24, 10, 12


def per_head(form: str) -> bytes:
    """A scan with one decay per head: states of WIDE × KEPT numbers a head."""
    made = Builder()
    x = made.given("x", [1, POSITIONS if form == "chunk" else 1, WIDTH], F32)

    def heads(size: int, *perm: int) -> str:
        part = made.op("MatMul", x, made.table(WIDTH, HEAD_COUNT * size))
        part = made.op("Reshape", part, made.fixed([0, 0, HEAD_COUNT, size]))
        return made.op("Transpose", part, perm=list(perm))

    steps = made.op("Softplus", made.op("MatMul", x, made.table(WIDTH, HEAD_COUNT)))
    steps = made.op("Transpose", made.op("Mul", steps, made.table(HEAD_COUNT)), perm=[0, 2, 1])
    if form == "chunk":
        total = made.op("CumSum", steps, made.fixed(-1))
        sides = [made.op("Unsqueeze", total, made.fixed([axis])) for axis in (-1, -2)]
        decay = made.op("Exp", made.op("Sub", *sides))
        scores = made.op("MatMul", heads(KEPT, 0, 2, 1, 3), heads(KEPT, 0, 2, 3, 1))
        y = made.op("MatMul", made.op("Mul", scores, decay), heads(WIDE, 0, 2, 1, 3))
    else:
        decay = made.op("Unsqueeze", made.op("Exp", steps), made.fixed([-1]))
        state = made.given("state", [1, HEAD_COUNT, WIDE, KEPT], F32)
        update = made.op("Mul", heads(WIDE, 0, 2, 3, 1), heads(KEPT, 0, 2, 1, 3))
        state = made.op("Add", made.op("Mul", state, decay), update)
        if form == "step":
            y = made.op("MatMul", state, heads(KEPT, 0, 2, 3, 1))
        else:
            y = made.op("ReduceSum", made.op("Mul", state, heads(KEPT, 0, 2, 1, 3)), made.fixed([-1]))
    y = made.op("Reshape", made.op("Transpose", y, perm=[0, 2, 1, 3]) if form == "chunk" else y,
                made.fixed([1, -1, HEAD_COUNT * WIDE]))  # fmt: skip
    return made.model(made.op("MatMul", y, made.table(HEAD_COUNT * WIDE, WIDTH)))


@pytest.mark.parametrize("form", ["chunk", "step", "summed"])
def test_state_of_scans_with_a_decay_per_head(form):
    """Mamba-2 and gated delta rules: neither the heads nor the length of a chunk are the state."""
    blocks = [block for block in analyze(per_head(form)).blocks if block.kind == "state-space"]
    assert [block.facts["state"] for block in blocks] == [KEPT]
