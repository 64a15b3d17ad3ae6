"""What its owner says about a model, and what it needs: given by options, not found in the file."""

from __future__ import annotations

from py_autodoc.report.schema.generation import Service
from py_autodoc.report.schema.wire import Wire


class Evaluation(Wire, frozen=True, kw_only=True):
    """One result that the owner states."""

    metric: str
    value: float | str
    dataset: str = ""
    note: str = ""


class CardFacts(Wire, frozen=True, kw_only=True):
    """Statements of the owner, from the table ``[card]`` of a TOML file or from options; not checked."""

    owner: str = ""
    contact: str = ""
    license: str = ""
    intended_use: str = ""
    out_of_scope: str = ""
    limits: list[str] = []
    """Known limits of the model."""
    evaluation: list[Evaluation] = []
    labels: list[str] = []
    """Names of the classes in the order of the outputs; compared with the shapes of the outputs."""
    source: str = ""
    """Name of the file, empty if all is from options."""


class RequirementTier(Wire, frozen=True, kw_only=True):
    """A device of a recommendation."""

    tier: str
    """``minimum``, ``recommended`` or ``optimal``."""
    device_name: str
    devices: int
    system: str | None
    precision: str
    batch: int | None
    memory_bytes: float | None
    latency_ms: float | None
    latency_low_ms: float | None
    latency_high_ms: float | None
    label: str
    items_per_s: float | None
    watts: float | None
    usd_per_hour: float | None
    usd_per_million: float | None


class SystemRequirements(Wire, frozen=True, kw_only=True):
    """The tiers of ``recommend``, for a card."""

    models: list[str]
    targets: str
    """The requested targets in words; empty without any."""
    sizes: dict[str, int]
    """Symbolic dimensions of the estimates."""
    tiers: list[RequirementTier]


class ServingSummary(Wire, frozen=True, kw_only=True):
    """Text generation on the chosen device, as in ``llm``."""

    device_name: str
    input_tokens: int
    output_tokens: int
    decode_tokens_per_s: float | None
    """Tokens per second of one user alone, after the first."""
    prefill_ms: float | None
    """Time of the prompt of one user alone."""
    service: Service | None
    assumptions: list[str]
