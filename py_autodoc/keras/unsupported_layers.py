"""Find everything in a model that cannot be converted, before the conversion starts."""

from __future__ import annotations

from typing import Any

from py_autodoc.keras.layer_call import CONVERTERS
from py_autodoc.keras.layers.activation import is_known_activation
from py_autodoc.keras.spec import LayerSpec, ModelSpec

PARTS = ("LSTMCell", "GRUCell", "SimpleRNNCell", "StackedRNNCells")
_INPUT = "InputLayer"


def find_unsupported(model: ModelSpec) -> list[str]:
    """Return the layers that cannot be converted, by name and class with the reason. Not recursive."""
    problems: list[str] = []
    pending: list[LayerSpec] = [*model.layers.values()][::-1]
    while pending:
        spec = pending.pop()
        reason = _reason(spec)
        if reason is not None:
            problems.append(f"{spec.label}{reason}")
            continue
        inner = list(spec.parts.values())
        inner += list(spec.model.layers.values()) if spec.model is not None else []
        pending += inner[::-1]
    return problems


def _reason(spec: LayerSpec) -> str | None:
    if spec.custom:
        return ", a custom class"
    if spec.model is None and spec.kind not in CONVERTERS and spec.kind not in (*PARTS, _INPUT):
        return ", which is Python code" if spec.kind == "Lambda" else ""
    for key in ("activation", "recurrent_activation"):
        value = spec.config.get(key)
        if not is_known_activation(value):
            name = value.get("config") if isinstance(value, dict) else value
            return f" with the activation {str(name)[:40]!r}"
    if _quantized(spec.config):
        return " with quantized weights"
    return None


def _quantized(config: dict[str, Any]) -> bool:
    policy = config.get("dtype")
    inner = policy.get("class_name", "") if isinstance(policy, dict) else policy
    return (
        config.get("quantization_config") is not None or "_from_" in str(inner) or "Quantized" in str(inner)
    )


def rounded(model: ModelSpec) -> set[str]:
    """Return the types other than float32 in which layers compute. Not recursive."""
    labels: set[str] = set()
    pending = list(model.layers.values())
    while pending:
        spec = pending.pop()
        pending += spec.parts.values()
        pending += spec.model.layers.values() if spec.model is not None else []
        policy = spec.config.get("dtype")
        name = policy.get("config", {}) if isinstance(policy, dict) else policy
        name = name.get("name") if isinstance(name, dict) else name
        if spec.kind != _INPUT and isinstance(name, str) and "float" in name and name != "float32":
            labels.add(name.removeprefix("mixed_"))
    return labels
