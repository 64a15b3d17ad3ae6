"""Lists of tensors."""

from __future__ import annotations

import torch


def onnx_sequence_erase(items: list[torch.Tensor], position: int) -> list[torch.Tensor]:
    """Return the list without one item."""
    position %= len(items)
    return [*items[:position], *items[position + 1 :]]
