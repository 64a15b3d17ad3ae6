"""Options of a plan of text generation, and their limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from py_autodoc.limits import LIBRARY, Limits
from py_autodoc.report.pipeline.device_choice import (
    DeviceChoice,
)

MAX_POINTS = 2_000
CONTEXTS = (1024, 4096, 32768)
MAX_DEVICES = 1024


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """Plan options: all combinations of devices (ids, files or choices), precisions and device counts.

    ``context`` defaults to those of 1,024, 4,096 and 32,768 tokens that the model supports, ``precision`` to
    the stored one. ``chunk`` is the number of prompt tokens processed at a time, which determines the
    activation memory. ``link`` is ``auto`` (the device's own link, if any), ``nvlink`` or ``pcie``.
    ``provider`` is the cloud for prices, ``all`` for any, empty for none; ``price`` overrides it in dollars
    per hour and device. ``runtime`` is the runtime of the model, with the default of ``analyze``.

    A request has ``input_tokens`` and ``output_tokens`` (0: 1,024 and 256, or what the model supports);
    ``first_token_ms`` and ``user_tokens_per_s`` are goals for each of ``users`` (0: as many as one replica
    serves).
    """

    hardware: Sequence[str | DeviceChoice]
    batch: Sequence[int] = (1, 8, 32)
    context: Sequence[int] = ()
    precision: Sequence[str] = ()
    tensor_parallel: Sequence[int] = (1,)
    pipeline_parallel: Sequence[int] = (1,)
    link: str = "auto"
    provider: str = ""
    price: float | None = None
    chunk: int = 2048
    runtime: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    first_token_ms: float | None = None
    user_tokens_per_s: float | None = None
    users: int = 0
    bindings: Mapping[str, int] = field(default_factory=dict)
    limits: Limits = LIBRARY
