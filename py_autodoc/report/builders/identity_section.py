"""The plain-language description of the model, for the report and the viewer's payload."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from py_autodoc import units
from py_autodoc.blocks.layer_blocks.quantized_layers import WEIGHT_ONLY
from py_autodoc.identity.model import LIKELY, STRUCTURE, UNKNOWN, MetadataTask, ModelPort
from py_autodoc.report.builders.quantization_section import quantization
from py_autodoc.report.encode.labels import dtype_name, sentence_start, shorten_middle, wire_shape
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.report.schema import (
    Identity,
    IdentityEvidence,
    IdentityKnown,
    IdentityValue,
    QuantizationInfo,
)

MAX_VALUES = 64
MAX_SHAPES = 2
"""Maximum number of inputs, and of outputs, whose shapes the line shows."""
_SECONDARY_ROLES = frozenset({
    "attention mask", "mask", "token types", "positions", "lengths", "state", "key/value cache",
    "sample rate", "number", "time step", "state or cache",
})  # fmt: skip
_MAX_CHARACTERS = 48
_FLOATS = ("float", "bfloat")


def identity(analysis: Analysis) -> Identity:
    """Return the description with its parts and evidence."""
    identified = analysis.identified
    inputs, outputs = _values(analysis, identified.inputs), _values(analysis, identified.outputs)
    params = None if analysis.params.reason else analysis.params.total
    precision, precision_evidence = _precision(analysis)
    parts = (
        sentence_start(_fact_text(identified.task, "task")),
        _fact_text(identified.family, "kind"),
        f"{_shapes(inputs)} → {_shapes(outputs)}",
        _parameters(params),
        precision if precision != UNKNOWN else "precision unknown",
    )
    return Identity(
        text=" · ".join(parts),
        task=identified.task.text,
        task_id=identified.task.id,
        family=identified.family.text,
        inputs=inputs,
        outputs=outputs,
        parameters=params,
        precision=precision,
        known=IdentityKnown(
            task=identified.task.known,
            family=identified.family.known,
            precision=UNKNOWN if precision == UNKNOWN else STRUCTURE,
        ),
        evidence=[
            *_evidence("task", identified.task.why),
            *_evidence("family", identified.family.why),
            *_evidence("precision", precision_evidence),
        ],
    )


def _parameters(count: int | None) -> str:
    if count is None:
        return "parameters unknown"
    return "1 parameter" if count == 1 else f"{units.count(count)} parameters"


def _fact_text(fact: MetadataTask, fact_name: str) -> str:
    if fact.known == UNKNOWN:
        return f"{fact_name} unknown"
    return (
        f"probably {shorten_middle(fact.text, 80)}" if fact.known == LIKELY else shorten_middle(fact.text, 80)
    )


def _evidence(fact: str, lines: Iterable[str]) -> list[IdentityEvidence]:
    return [IdentityEvidence(about=fact, text=shorten_middle(line, 400)) for line in list(lines)[:12]]


def _values(analysis: Analysis, ports: Sequence[ModelPort]) -> list[IdentityValue]:
    main = [port for port in ports if port.role not in _SECONDARY_ROLES] or list(ports)
    main_tensors = {port.tensor for port in main[:MAX_SHAPES]}
    dtypes = analysis.types.dtypes
    return [
        IdentityValue(
            name=shorten_middle(port.name),
            role=port.role,
            likely=bool(port.role) and not port.sure,
            shown=port.tensor in main_tensors,
            elem_type=dtype_name(dtypes[port.tensor] or port.dtype),
            shape=wire_shape(analysis.types.shapes[port.tensor]),
        )
        for port in ports[:MAX_VALUES]
    ]


def _shapes(values: Sequence[IdentityValue]) -> str:
    """Return ``1×3×256×256``; several are joined, and omitted outputs are counted."""
    primary = [value for value in values if value.shown]
    if not primary:
        return "nothing"
    text = ", ".join(_shape(value) for value in primary)
    omitted = sum(value.role not in _SECONDARY_ROLES for value in values) - len(primary)
    return f"{text} and {omitted} more" if omitted > 0 else text


def _shape(value: IdentityValue) -> str:
    """Return the shape with separators; long expressions are shortened."""
    if value.shape is None:
        return "?"
    sizes = [f"{d:,}" if isinstance(d, int) else d for d in value.shape]
    return units.shape(shorten_middle(d, 16) if isinstance(d, str) else d for d in sizes)


def _precision(analysis: Analysis) -> tuple[str, tuple[str, ...]]:
    """Return the stored precision of the weights or the quantization, with the evidence."""
    quantized = quantization(analysis)
    if quantized.quantized:
        return _few_bits(quantized), (
            f"{quantized.layers:,} of {quantized.layers_total:,} layers with weights are quantized",
        )
    split = analysis.breakdown
    if split is None:
        return UNKNOWN, ()
    if analysis.params.reason:
        return UNKNOWN, (analysis.params.reason,)
    params_by_type: dict[str, int] = {}
    for (dtype, _), share in split.by_dtype.items():
        name = dtype_name(dtype)
        params_by_type[name] = params_by_type.get(name, 0) + (share.params or 0)
    floats = {name: count for name, count in params_by_type.items() if name.startswith(_FLOATS) and count}
    if not floats:
        return ("no weights" if not sum(params_by_type.values()) else UNKNOWN), ()
    total = sum(floats.values())
    largest = sorted(floats, key=lambda name: -floats[name])
    names = [name for name in largest if floats[name] >= 0.05 * total][:2]
    summary = ", ".join(f"{units.count(floats[name])} parameters in {name}" for name in largest[:4])
    return f"{' and '.join(names)}, not quantized", (summary,)


def _few_bits(info: QuantizationInfo) -> str:
    weights = f"{'/'.join(info.weights)} weights" if info.weights else "low-bit weights"
    activations = f" and {'/'.join(info.activations)} activations" if info.activations else ""
    scheme = "/".join(info.schemes)
    if not activations and scheme == WEIGHT_ONLY:
        return f"{weights}, activations not quantized"
    return f"{weights}{activations} ({scheme})"
