"""Whole models against independent numbers (``tests/data/truth.json``).

MACs were counted by executing the models, parameters by PyTorch or in the file, peaks by a liveness
sweep over the executed shapes of the main graph.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from py_autodoc.costs.engine import LOOPING, Totals, cost_table, totals
from py_autodoc.costs.liveness import PeakMemory, peak_activation
from py_autodoc.costs.params import ParamTable, count_params
from py_autodoc.graph.building.build import build
from py_autodoc.graph.loading.load import load
from py_autodoc.graph.shapes import infer

DATA = Path(__file__).parents[1] / "data"
TRUTH: dict[str, dict[str, Any]] = json.loads((DATA / "truth.json").read_text())


def files(name: str) -> list[Path]:
    """The model and its stripped copy, as far as they are in the repository."""
    places = ("models/{}.onnx", "models/{}.stripped.onnx", "stripped/{}.stripped.onnx")
    return [path for path in (DATA / place.format(name) for place in places) if path.exists()]


MODELS = [pytest.param(name, path, id=path.stem) for name in TRUTH for path in files(name)]
with_macs = [p for p in MODELS if TRUTH[str(p.values[0])].get("macs") is not None]
with_peak = [p for p in MODELS if TRUTH[str(p.values[0])].get("peak")]


@cache
def analysed(name: str, path: Path) -> tuple[Totals, ParamTable, PeakMemory]:
    truth = TRUTH[name]
    loaded = load(path)
    model = build(loaded)
    shapes: dict[str, list[int]] = {}
    for item in filter(None, truth.get("inputs_given", "").split(",")):
        tensor, _, dims = item.partition("=")
        shapes[tensor] = [int(d) for d in dims.split("x")]
    if truth["source"] == "torch":
        names = [model.tensors[t].name for t in model.graphs[0].inputs]
        shapes.update(zip(names, truth["inputs"], strict=True))
    # The numbers were taken with every size that neither the file nor the record gives set to 1.
    bindings = {"*": 1, **truth.get("dims", {})}
    types = infer(loaded, model, bindings, shapes)
    return (
        totals(model, cost_table(model, types).nodes),
        count_params(model, types),
        peak_activation(model, types),
    )


def test_every_model_of_the_record_is_here() -> None:
    assert [name for name in TRUTH if not files(name)] == []


@pytest.mark.parametrize(("name", "path"), with_macs)
def test_macs(name: str, path: Path) -> None:
    total, _, _ = analysed(name, path)
    assert total.macs == TRUTH[name]["macs"]
    if "macs_by_op" in TRUTH[name]:
        found = {op: t.macs for (_, op), t in total.by_op.items() if t.macs}
        assert found == TRUTH[name]["macs_by_op"]


@pytest.mark.parametrize(("name", "path"), MODELS)
def test_coverage_is_complete(name: str, path: Path) -> None:
    total, _, _ = analysed(name, path)
    # Nobody knows how often its loop runs: its body of four nodes counts once, and is not covered.
    loops = {LOOPING: 4} if name == "trt_loop" else {}
    assert total.reasons == loops
    assert total.nodes_known == total.nodes_total - sum(loops.values())
    assert total.flops is not None
    assert total.flops >= 2 * (total.macs or 0)
    assert total.read_bytes


@pytest.mark.parametrize(("name", "path"), MODELS)
def test_params(name: str, path: Path) -> None:
    truth = TRUTH[name]
    table = analysed(name, path)[1]
    assert sum(table.params) + table.unused == table.total
    # ``params`` is PyTorch's count, or of all numbers in the file; ``params_why`` says why ours is another.
    assert table.total == truth.get("params_trained", truth["params"])
    if truth["source"] == "torch":
        assert table.total == pytest.approx(truth["params"], rel=truth["tolerance"]["params_rel"])
    else:
        assert table.total <= truth["params"]


@pytest.mark.parametrize(("name", "path"), with_peak)
def test_peak_memory(name: str, path: Path) -> None:
    truth = TRUTH[name]["peak"]
    peak = analysed(name, path)[2]
    assert (peak.main_simple, peak.main_inplace) == (truth["liveness_simple"], truth["liveness_inplace"])
    assert peak.simple is not None
    assert peak.inplace is not None
    if name == "silero_vad_half":  # its branches reorder the weights of an LSTM: three 256 KiB copies
        assert peak.simple > truth["liveness_simple"]
    else:
        assert (peak.simple, peak.inplace) == (peak.main_simple, peak.main_inplace)


@pytest.mark.parametrize(("name", "path"), MODELS)
def test_stored_weights_weigh_what_their_types_say(name: str, path: Path) -> None:
    table = analysed(name, path)[1]
    assert table.weight_bytes is not None
    smallest = 1 if TRUTH[name].get("elements", {}).get("int8") else 4
    assert table.weight_bytes >= smallest * table.total
