"""Which share of models with free sizes runs in ONNX Runtime at the sizes that are assumed."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from assumed_models import MADE
from assumed_runs import fault

import py_autodoc
from py_autodoc.graph.building.build import build
from py_autodoc.graph.loading.load import load
from py_autodoc.graph.symbolic_dims import dim_names

ROOT = Path(__file__).parents[2]


def files() -> list[Path]:
    """Everything in the repository that has a free size."""
    data = ROOT / "tests" / "data"
    found = [*data.glob("models/*.onnx"), *data.glob("stripped/*.onnx"), *(ROOT / "examples").glob("*.onnx")]
    return [path for path in sorted(found) if dim_names.typical_sizes(build(load(path)))]


def nameless(path: Path, folder: Path) -> Path:
    """The model without names for its sizes: nothing tells which are equal, or what they mean."""
    model = onnx.load(path, load_external_data=False)
    for info in model.graph.input:
        for dim in info.type.tensor_type.shape.dim:
            if dim.HasField("dim_param"):
                dim.ClearField("dim_param")
    for info in model.graph.output:
        info.type.tensor_type.ClearField("shape")
    del model.graph.value_info[:]
    target = folder / f"{path.stem}.nameless.onnx"
    onnx.save(model, target)
    return target


def share(paths: list[Path]) -> list[str]:
    """Prints the share that runs; returns a line for each model that does not."""
    bad = []
    for path in paths:
        sizes = {dim.name: dim.value for dim in py_autodoc.analyze(path, assume=True).dims}
        unknown = [name for name, size in sizes.items() if size is None]
        why = f"no size for {unknown}" if unknown else fault(path, sizes)
        if why:
            bad.append(f"{path.name} at {sizes}: {why[:300]}")
    print(f"assumed sizes run: {len(paths) - len(bad)} of {len(paths)} ({1 - len(bad) / len(paths):.0%})")
    return bad


@pytest.mark.slow
def test_models_of_the_repository_run_at_their_assumed_sizes(tmp_path):
    found = files()
    assert len(found) > 10
    inline = [nameless(path, tmp_path) for path in found if "stripped" not in path.name]
    assert not share(found + inline)


@pytest.mark.slow
def test_made_models_without_names_run_at_their_assumed_sizes(tmp_path):
    paths = []
    for name, made in MADE.items():
        path = tmp_path / f"{name}.onnx"
        path.write_bytes(made.bytes())
        paths.append(nameless(path, tmp_path))
    assert not share(paths)


@pytest.mark.slow
def test_exported_models_run_at_their_assumed_sizes(tmp_path):
    pytest.importorskip("torch")
    from exported_models import KINDS, export

    named = [export(name, tmp_path) for name in KINDS]
    assert not share(named + [nameless(path, tmp_path) for path in named])
