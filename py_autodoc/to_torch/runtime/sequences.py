"""Lists of tensors."""

from __future__ import annotations

import torch


def onnx_sequence_erase(items: list[torch.Tensor], place: int) -> list[torch.Tensor]:
    """Return the list without one item."""
    place %= len(items)
    return [*items[:place], *items[place + 1 :]]
