"""Two models on the same input: how far their outputs are apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from py_autodoc.compare.run_difference import OutputDifference, RunDifference
from py_autodoc.errors import InputError
from py_autodoc.graph.protobuf.probe import PathLike
from py_autodoc.graph.symbolic_dims.dim_names import graph_inputs
from py_autodoc.runner.session import InferenceRunner
from py_autodoc.samples import cast_to_inputs
from py_autodoc.units import shape


def run_both(
    left: PathLike,
    right: PathLike,
    data: Any = None,
    *,
    seed: int = 0,
    bindings: Mapping[str, int] | None = None,
    input_shapes: Mapping[str, Sequence[int]] | None = None,
) -> RunDifference:
    """Run two models once on the same input, and compare their outputs.

    Inputs and outputs correspond by name, the others in their order. ``data`` is as in ``InferenceRunner``;
    None generates values from ``seed``.

    Raises:
        InputError: a model or the data cannot be read, or the second does not take the input of the first.
        RequirementError: ONNX Runtime is missing.
        AnalysisError: it rejects a model.
    """
    first = InferenceRunner(left, bindings=bindings, input_shapes=input_shapes, data=data)
    samples, _, source = first.samples(data, 1, seed)
    sample = samples[0]
    expected = _named(first, first.once(sample))
    names = dict(_pairs([spec.name for spec in first.specs], _inputs(right, sample)))
    renamed = {names.get(name, name): values for name, values in sample.items()}
    sizes = {name: np.asarray(values).shape for name, values in renamed.items()}
    second = InferenceRunner(right, input_shapes=sizes)
    _check_declared(second, sizes, first.name)
    found = _named(second, second.once(cast_to_inputs(renamed, second.specs, f"The input of {first.name}")))
    paired = _pairs(list(expected), list(found))
    outputs = [_difference(a, b, expected[a], found[b]) for a, b in paired]
    return RunDifference(
        data=source,
        outputs=outputs,
        only_left=[name for name in expected if name not in dict(paired)],
        only_right=[name for name in found if name not in {b for _, b in paired}],
    )


def _check_declared(runner: InferenceRunner, sizes: Mapping[str, Sequence[int]], source: str) -> None:
    """Raise InputError if a size that the file fixes is another one."""
    for tensor in graph_inputs(runner.analysis.model):
        given = sizes.get(tensor.name)
        if given is None or tensor.shape is None:
            continue
        pairs = zip(tensor.shape, given, strict=False)
        if any(isinstance(size, int) and size != other for size, other in pairs):
            raise InputError(
                "sample-shape",
                f"{runner.name} takes {tensor.name} {shape(tensor.shape)}; the input of {source} is "
                f"{shape(given)}.",
                "Both models must take the same input.",
            )


def _inputs(model: PathLike, sample: Mapping[str, Any]) -> list[str]:
    from py_autodoc.compare.topology import input_names

    names = input_names(str(model))[0]
    return list(names) if len(names) >= len(sample) else []


def _pairs(left: list[str], right: list[str]) -> list[tuple[str, str]]:
    """Pair names: equal ones, then the others in their order if equally many remain."""
    shared = [name for name in left if name in right]
    rest = [name for name in left if name not in shared], [name for name in right if name not in shared]
    others = zip(*rest, strict=True) if len(rest[0]) == len(rest[1]) else ()
    by_left = dict([*((name, name) for name in shared), *others])
    return [(name, by_left[name]) for name in left if name in by_left]


def _named(runner: InferenceRunner, outputs: list[Any]) -> dict[str, Any]:
    return dict(zip([output.name for output in runner.session.get_outputs()], outputs, strict=True))


def _difference(left: str, right: str, expected: Any, found: Any) -> OutputDifference:
    """Compare two outputs. Equal infinities and NaN at the same places are equal."""
    reason = ""
    if expected.shape != found.shape:
        reason = f"its shape is {list(expected.shape)} and {list(found.shape)}"
    elif "O" in (expected.dtype.kind, found.dtype.kind):
        reason = "" if expected.tolist() == found.tolist() else "it has other texts or sequences"
        if not reason:
            return OutputDifference(left=left, right=right, largest=0.0, relative=0.0)
    if not reason:
        a, b = expected.astype(np.float64), found.astype(np.float64)
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        with np.errstate(invalid="ignore", over="ignore"):
            distance = np.where(same, 0.0, np.abs(a - b))
        if np.isfinite(distance).all():
            largest = float(distance.max(initial=0.0))
            scale = float(np.abs(a[np.isfinite(a)]).max(initial=0.0))
            relative = 0.0 if not largest else largest / scale if scale else None
            return OutputDifference(left=left, right=right, largest=largest, relative=relative)
        reason = "only one model gives numbers"
    return OutputDifference(left=left, right=right, largest=None, relative=None, reason=reason)
