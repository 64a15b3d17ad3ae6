"""Control flow."""

from __future__ import annotations

from collections.abc import Sequence

import torch


def onnx_stack(items: Sequence[torch.Tensor], shape: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
    """Stack the results of all steps; return an empty tensor if there are none."""
    return torch.stack(list(items)) if items else torch.empty((0, *shape), dtype=dtype)
