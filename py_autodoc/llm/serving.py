"""Text generation on one device for the viewer: a grid of batches and contexts, and the limits."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from py_autodoc.errors import OptionError
from py_autodoc.hardware.profile import profiles
from py_autodoc.hardware.runtimes import Runtime
from py_autodoc.limits import LIBRARY, Limits
from py_autodoc.llm.decoder import decoder_of
from py_autodoc.llm.plan_options import PlanOptions
from py_autodoc.llm.run import plan_sized
from py_autodoc.llm.sizes import SizedModel
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.report.pipeline.device_choice import DeviceChoice, choose_device
from py_autodoc.report.schema.generation import Plans

BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
CONTEXTS = tuple(256 << step for step in range(10))
SOME_BATCHES, SOME_CONTEXTS = (1, 4, 16, 64), (512, 2048, 8192, 32768)
"""For large models, or if every prefill needs its own analysis."""
FEW_BATCHES, FEW_CONTEXTS = (1, 8, 32), (1024, 4096)
"""For large models in which every prefill needs its own analysis."""
MANY_NODES = 1_500


def decodes(analysis: Analysis) -> bool:
    """Return whether the model has a KV cache, so that there is something to show."""
    cache = analysis.kv_cache
    return cache is not None and cache.source != "none" and bool(cache.layers)


class ServingGrid:
    """An analysed decoder; its structure is analysed again for other sizes, once per runtime."""

    def __init__(self, analysis: Analysis, limits: Limits = LIBRARY) -> None:
        self._analysis, self._limits = analysis, limits
        self._sized_model: tuple[Runtime, SizedModel] | None = None

    def on(self, chosen: DeviceChoice) -> Plans:
        """Return the plan on a device. Raises: OptionError: the model does not generate tokens."""
        analysis = self._analysis
        if self._sized_model is None or self._sized_model[0] is not chosen.runtime:
            bindings = {
                symbol.name: symbol.value
                for symbol in analysis.dims.symbols
                if symbol.value is not None and symbol.follows is None and not symbol.assumed
            }
            sized_model = SizedModel(analysis.loaded.proto, self._limits, bindings, chosen.runtime)
            self._sized_model = (chosen.runtime, sized_model)
        sized = self._sized_model[1]
        longest = decoder_of(sized.base).max_context
        batches, contexts = _grid(sized)
        precision = (chosen.precision,) if chosen.precision else ()
        options = PlanOptions([chosen], batches, _up_to(contexts, longest), precision)
        plans = plan_sized(sized, options, chosen.runtime)
        return msgspec.structs.replace(plans, model=analysis.model.file.name)


def packaged(device: str, precision: str = "", runtime: str = "") -> DeviceChoice:
    """Return a packaged device by id, never from a file. Raises: OptionError."""
    is_packaged = any(profile.id == device for profile in profiles())
    chosen = choose_device(device, precision, runtime) if is_packaged else None
    if chosen is None:
        raise OptionError(
            "unknown-device", f"Unknown device {device[:80]!r}.", "Pass the id of a known device."
        )
    return chosen


def _grid(sized: SizedModel) -> tuple[Sequence[int], Sequence[int]]:
    """Return batches and contexts, limited by the time they take."""
    # Files with fixed dimensions use formulas, which take no time.
    large = sized.prompts and len(sized.base.model.nodes) > MANY_NODES
    if sized.quick and not large:
        return BATCHES, CONTEXTS
    return (FEW_BATCHES, FEW_CONTEXTS) if large and not sized.quick else (SOME_BATCHES, SOME_CONTEXTS)


def _up_to(contexts: Sequence[int], longest: int | None) -> Sequence[int]:
    """Return the contexts that a model supports, including its longest."""
    if longest is None or longest > contexts[-1]:
        return contexts
    return (*(context for context in contexts if context < longest), longest)
