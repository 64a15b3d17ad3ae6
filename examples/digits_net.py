"""The digits network as a PyTorch module with its trained weights, to quantize it in PyTorch.

    onnx-autodoc export examples.digits_net:make digits_pt2e.onnx --quantize int8 --data tests/data/quant/digits.npz
"""

from __future__ import annotations

from pathlib import Path

import onnx
import torch
from onnx import numpy_helper
from torch import Tensor, nn

WEIGHTS = Path(__file__).parents[1] / "tests" / "data" / "quant" / "digits_cnn.onnx"


class Residual(nn.Module):
    """Two convolutions beside the data."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.c1 = nn.Conv2d(channels, channels, 3, padding=1)
        self.c2 = nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        """As many channels as before."""
        return torch.relu(x + self.c2(torch.relu(self.c1(x))))


class Digits(nn.Module):
    """Ten scores of an 8×8 picture with values of 0 to 1."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(1, 16, 3, padding=1)
        self.l1 = Residual(16)
        self.down = nn.Conv2d(16, 32, 3, stride=2, padding=1)
        self.l2 = Residual(32)
        self.fc = nn.Linear(32, 10)

    def forward(self, image: Tensor) -> Tensor:
        """``image`` N×1×8×8 to N×10."""
        x = self.l1(torch.relu(self.stem(image)))
        x = self.l2(torch.relu(self.down(x)))
        return self.fc(x.mean((2, 3)))


def make() -> tuple[nn.Module, Tensor]:
    """The trained module and an example of its input."""
    held = {one.name: one for one in onnx.load(WEIGHTS).graph.initializer}
    module = Digits()
    module.load_state_dict(
        {name: torch.tensor(numpy_helper.to_array(held[name])) for name in module.state_dict()}
    )
    return module.eval(), torch.zeros(1, 1, 8, 8)
