"""Decide whether results on this machine hold for a target, and prepare a run as the target computes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import msgspec
import onnx

from py_autodoc.bounded import TooMuch, parse_json
from py_autodoc.errors import AutodocError
from py_autodoc.graph.protobuf.probe import PathLike
from py_autodoc.int8_kernels.document import IntegerKernels
from py_autodoc.int8_kernels.model_run import ModelRun, NotMeasured, as_it_runs
from py_autodoc.int8_kernels.saturating import has_integer_products, saturating_nodes
from py_autodoc.int8_kernels.targets import COMPUTATIONS, EXACT, computation, kernel_here
from py_autodoc.limits import Bounds

RECIPE = "onnx_autodoc.quantization"
"""Metadata key of the recipe that a quantized model was made with."""
_RECIPE_BOUNDS = Bounds(values=10_000, depth=16)


@dataclass(frozen=True, slots=True)
class Judgement:
    """What is known before the run."""

    kernels: IntegerKernels
    run: ModelRun | None
    """Runs the model as the target computes it; None if the results do not differ, or cannot be measured."""

    def without_run(self, why: NotMeasured) -> Judgement:
        """Return the judgement after the run failed."""
        return Judgement(msgspec.structs.replace(self.kernels, not_measured=str(why)), None)


def judge(path: PathLike, proto: onnx.ModelProto, samples: int, target: str = "") -> Judgement | None:
    """Return how results on this machine relate to those of a target; None without integer products.

    Args:
        path: the model.
        proto: the same, also without weights.
        samples: number of samples that would be run.
        target: empty takes that of the recipe in the metadata. Without one, exact sums are the measure.
    """
    if not has_integer_products(proto):
        return None
    target = target or recipe_target(proto.metadata_props)
    asked, here = computation(target), kernel_here()
    count, differs, run, why = None, here != asked.kernel, None, ""
    try:
        graph = as_it_runs(path, keeps_s8=False)
        positions, inside = saturating_nodes(graph)
        count = len(positions)
        wanted = as_it_runs(path, keeps_s8=True) if asked.keeps_s8 else graph
        can_saturate = bool(positions or inside)
        target_can = can_saturate if wanted is graph else any(saturating_nodes(wanted))
        differs = (here == "pairs" and can_saturate) != (asked.kernel == "pairs" and target_can)
        if differs:
            run = ModelRun(path, wanted, asked.kernel, samples)
    except NotMeasured as error:
        why = str(error) if differs else ""
    except AutodocError as error:
        why = f"ONNX Runtime does not run it: {error}" if differs else ""
    kernels = IntegerKernels(
        here=here,
        target=target,
        target_computes=asked.kernel,
        saturating_operators=count,
        differs=differs,
        not_measured=why,
    )
    return Judgement(kernels, run)


def exact_run(path: PathLike, model: onnx.ModelProto, samples: int) -> ModelRun:
    """Return a run of the graph as in the file, with exact sums. Raises: NotMeasured."""
    return ModelRun(path, model, EXACT.kernel, samples)


def recipe_target(metadata: Iterable[onnx.StringStringEntryProto]) -> str:
    """Return the target that a model was quantized for, from its metadata; empty if it has none."""
    text = next((entry.value for entry in metadata if entry.key == RECIPE), "")
    try:
        found = parse_json(text, _RECIPE_BOUNDS)
    except (TooMuch, ValueError):
        return ""
    recipe = found.get("recipe") if isinstance(found, dict) else None
    target = recipe.get("target") if isinstance(recipe, dict) else None
    return target if isinstance(target, str) and target in COMPUTATIONS else ""
