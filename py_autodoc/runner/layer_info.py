"""Read the output of ``trtexec --exportLayerInfo``: the source nodes of each layer of an engine."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from py_autodoc.bounded import TooMuch, check_json
from py_autodoc.errors import InputError
from py_autodoc.graph.protobuf.probe import PathLike
from py_autodoc.limits import LAYER_INFO_FILE, Bounds
from py_autodoc.option_files import read_text, shown_name

LAYERS = Bounds(values=8_000_000)
"""About 60 values per layer: tensors with their dimensions, parameters, tactic."""
_MARK = "[ONNX Layer: "
_SEPARATORS = "\x1e\x1f"
"""Separators of the nodes of a layer: the first in TensorRT 8.6, the second in TensorRT 10."""
_DETAILED = "Build the engine with trtexec --profilingVerbosity=detailed, and export both files from it."


@dataclass(frozen=True, slots=True)
class TensorRTLayer:
    """A layer of an engine."""

    nodes: tuple[str, ...]
    """Names of its source nodes in the ONNX model; empty if the file does not contain them."""
    conversion: bool
    """True if it only changes layout or type for another layer."""


def read_layer_info(file: PathLike) -> dict[str, TensorRTLayer]:
    """Return the layers of an engine by name.

    Raises:
        PathError: no such file, or it is not text.
        InputError: it is not layer information, is too large, or does not contain the nodes of the layers.
    """
    name, text = shown_name(file), read_text(file, LAYER_INFO_FILE)
    rows = _rows(text, name)
    if not any(isinstance(row, dict) for row in rows):
        raise InputError("layer-info-names-only", f"{name} contains only the names of the layers.", _DETAILED)
    layers: dict[str, TensorRTLayer] = {}
    for row in rows:
        if not isinstance(row, dict) or not isinstance(row.get("Name"), str):
            continue
        layer, before = _layer(row), layers.get(row["Name"])
        if before is not None:
            # Layers with the same name are indistinguishable in a profile, so they are merged.
            nodes = tuple(dict.fromkeys((*before.nodes, *layer.nodes)))
            layer = TensorRTLayer(nodes, before.conversion and layer.conversion)
        layers[row["Name"]] = layer
    if not any(layer.nodes for layer in layers.values()):
        raise InputError(
            "layer-info-without-nodes",
            f"{name} does not contain the ONNX nodes of its layers (Metadata).",
            "TensorRT 8.6 and later write them. For an older version, omit --layer-info.",
        )
    return layers


def _rows(text: str, name: str) -> list[Any]:
    """Return the entries of ``Layers``."""
    try:
        check_json(text, LAYERS)
        # TensorRT writes names unescaped, including the separators.
        document = json.loads(text, strict=False)
    except TooMuch as fault:
        raise InputError("layer-info-too-large", f"{name} {fault}.") from None
    except (ValueError, RecursionError):
        document = None
    rows = document.get("Layers") if isinstance(document, dict) else None
    if not isinstance(rows, list) or not rows:
        raise InputError(
            "bad-layer-info",
            f"{name} does not contain the layers of a TensorRT engine.",
            "Pass the file that trtexec --exportLayerInfo=FILE writes.",
        )
    return rows


def _layer(entry: dict[str, Any]) -> TensorRTLayer:
    metadata = entry.get("Metadata")
    # A Reformat can also be an operator of the model: Origin is QDQ for QuantizeLinear, CONCAT for a copy.
    conversion = entry.get("LayerType") == "Reformat" and entry.get("Origin", "REFORMAT") == "REFORMAT"
    return TensorRTLayer(source_nodes(metadata) if isinstance(metadata, str) else (), conversion)


def source_nodes(metadata: str) -> tuple[str, ...]:
    """Return the node names in the ``Metadata`` of a layer, as TensorRT's ONNX parser writes them.

    Each is ``[ONNX Layer: NAME]`` or ``[ONNX Layer: NAME | Local Function: F]``. A name may contain brackets.
    """
    names = []
    for fragment in metadata.split(_MARK)[1:]:
        name = fragment.rstrip(_SEPARATORS + " +,").removesuffix("]").partition(" | ")[0]
        if name:
            names.append(name)
    return tuple(dict.fromkeys(names))
