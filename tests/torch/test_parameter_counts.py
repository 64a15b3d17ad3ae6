"""Parameters of exported models are those that PyTorch counts, whatever the exporter makes of the module."""

from __future__ import annotations

import math

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxscript")

from torch import nn  # noqa: E402

from py_autodoc import analyze  # noqa: E402


class Rotary(nn.Module):
    """Attention with tables of cosines and sines and a stored mask."""

    def __init__(self, width: int = 32, heads: int = 4, longest: int = 128) -> None:
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Linear(width, width) for _ in range(4))
        size = width // heads
        angles = torch.arange(longest)[:, None] / 10000 ** (torch.arange(0, size, 2) / size)
        angles = torch.cat([angles, angles], -1)
        self.register_buffer("cos", angles.cos())
        self.register_buffer("sin", angles.sin())
        self.register_buffer("mask", torch.full((longest, longest), float("-inf")).triu(1)[None, None])

    def rotated(self, x):
        a, b = x.chunk(2, -1)
        return x * self.cos[: x.shape[2]] + torch.cat([-b, a], -1) * self.sin[: x.shape[2]]

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (f(x).view(batch, length, self.heads, -1).transpose(1, 2) for f in (self.q, self.k, self.v))
        scores = self.rotated(q) @ self.rotated(k).transpose(-1, -2) / math.sqrt(width // self.heads)
        weights = (scores + self.mask[:, :, :length, :length]).softmax(-1)
        return self.o((weights @ v).transpose(1, 2).reshape(batch, length, width))


class Biased(nn.Module):
    """A temperature and a position bias for each head, a norm written out, and scales of a residual."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv, self.o = nn.Linear(16, 48), nn.Linear(16, 1)
        self.bias = nn.Parameter(torch.randn(4, 8, 8))
        self.temperature = nn.Parameter(torch.randn(4, 1, 1))
        self.norm, self.scale = nn.Parameter(torch.randn(16)), nn.Parameter(torch.randn(16))

    def forward(self, x):
        normed = self.norm * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
        q, k, v = self.qkv(normed).view(-1, 8, 3, 4, 4).permute(2, 0, 3, 1, 4)
        weights = (q @ k.transpose(-1, -2) * self.temperature + self.bias).softmax(-1)
        return self.o(x + self.scale * (weights @ v).transpose(1, 2).reshape(-1, 8, 16))


class Grid(nn.Module):
    """A detector: boxes are decoded with stored anchors and strides."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.head = nn.Conv2d(3, 8, 3, 2, 1), nn.Conv2d(8, 10, 1)
        points = torch.meshgrid(torch.arange(8.0), torch.arange(8.0), indexing="ij")
        self.register_buffer("anchors", torch.stack(points).reshape(1, 2, 64))
        self.register_buffer("strides", torch.arange(1.0, 65)[None])
        self.register_buffer("mean", torch.tensor([0.1, 0.2, 0.3]).view(1, 3, 1, 1))

    def forward(self, x):
        y = self.head(torch.relu(self.conv(x - self.mean))).flatten(2)
        box, classes = y.split([4, 6], 1)
        low, high = box.chunk(2, 1)
        corners = torch.cat([self.anchors - low, self.anchors + high], 1) * self.strides
        return torch.cat([corners, classes.sigmoid()], 1)


class Unit(nn.Module):
    """A unit matrix minus products of activations."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = nn.Linear(8, 8), nn.Linear(8, 8)
        self.register_buffer("unit", torch.eye(6))

    def forward(self, x):
        y = self.a(x)
        return self.b((self.unit - 0.1 * (y @ y.transpose(1, 2))) @ y)


class Tokens(nn.Module):
    """A class token, learned positions and a norm over two axes."""

    def __init__(self) -> None:
        super().__init__()
        self.token, self.positions = nn.Parameter(torch.randn(1, 1, 8)), nn.Parameter(torch.randn(1, 5, 8))
        self.norm, self.head = nn.LayerNorm((5, 8)), nn.Linear(8, 3)

    def forward(self, x):
        joined = torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1) + self.positions
        return self.head(self.norm(joined))


CASES = {
    "rotary": (Rotary, (1, 24, 32)),
    "biased": (Biased, (2, 8, 16)),
    "grid": (Grid, (1, 3, 16, 16)),
    "unit": (Unit, (1, 6, 8)),
    "tokens": (Tokens, (1, 4, 8)),  # a batch of 2 is folded into the token
}


@pytest.mark.parametrize("dynamo", [True, False], ids=["dynamo", "torchscript"])
@pytest.mark.parametrize("name", CASES)
def test_parameters_are_those_of_the_module(name, dynamo, tmp_path):
    kind, shape = CASES[name]
    torch.manual_seed(0)
    module = kind().eval()
    for parameter in module.parameters():  # exporters merge equal tensors, such as ones and zeros
        nn.init.normal_(parameter)
    path = tmp_path / "model.onnx"
    options = {"external_data": False, "verbose": False} if dynamo else {"opset_version": 17}
    torch.onnx.export(module, (torch.randn(shape),), str(path), dynamo=dynamo, **options)
    assert analyze(path).metrics.total_params == sum(p.numel() for p in module.parameters())
