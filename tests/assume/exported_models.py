"""Tiny models of many kinds, exported by torch with every size free that the kind leaves free."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn import functional as fn

Build = tuple[nn.Module, tuple[Any, ...], dict[str, dict[int, str]]]
KINDS: dict[str, Callable[[], Build]] = {}


def kind(build: Callable[[], Build]) -> Callable[[], Build]:
    """Register a builder: (model, example inputs, input name → axis → name)."""
    KINDS[build.__name__] = build
    return build


def export(name: str, folder: Path) -> Path:
    """The model as a file."""
    torch.manual_seed(0)
    model, inputs, axes = KINDS[name]()
    path = folder / f"{name}.onnx"
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            model.eval(), inputs, str(path), input_names=list(axes), dynamic_axes=axes, dynamo=False
        )
    return path


def split(x: torch.Tensor, heads: int = 2) -> torch.Tensor:
    return x.view(x.shape[0], x.shape[1], heads, -1).transpose(1, 2)


class Attention(nn.Module):
    """Attention over what is cached and what is new."""

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x, past_k=None, past_v=None, mask=None, memory=None):
        source = x if memory is None else memory
        q, k, v = split(self.q(x)), split(self.k(source)), split(self.v(source))
        if past_k is not None:
            k, v = torch.cat([past_k, k], 2), torch.cat([past_v, v], 2)
        scores = q @ k.transpose(2, 3)
        if mask is not None:
            scores = scores + (1 - mask[:, None, None, :].float()) * -1e4
        y = (scores.softmax(-1) @ v).transpose(1, 2)
        return self.o(y.reshape(y.shape[0], y.shape[1], -1)), k, v


class Decoder(nn.Module):
    """Two layers with caches, learned positions."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(50, 16), nn.Embedding(512, 16)
        self.layers = nn.ModuleList([Attention(), Attention()])
        self.out = nn.Linear(16, 50)

    def forward(self, input_ids, attention_mask, position_ids, k0, v0, k1, v1):
        x = self.words(input_ids) + self.places(position_ids)
        kept = []
        for layer, k, v in zip(self.layers, (k0, k1), (v0, v1), strict=True):
            y, k, v = layer(x, k, v, attention_mask)
            x = x + y
            kept += [k, v]
        return self.out(x), *kept


@kind
def decoder_with_cache() -> Build:
    cache = [torch.randn(2, 2, 5, 8) for _ in range(4)]
    names = ["past_key_values.0.key", "past_key_values.0.value"]
    names += ["past_key_values.1.key", "past_key_values.1.value"]
    axes = {"input_ids": {0: "batch_size", 1: "sequence_length"}}
    axes["attention_mask"] = {0: "batch_size", 1: "past_sequence_length + 1"}
    axes["attention_mask"] = {0: "batch_size", 1: "total_sequence_length"}
    axes["position_ids"] = {0: "batch_size", 1: "sequence_length"}
    axes |= {name: {0: "batch_size", 2: "past_sequence_length"} for name in names}
    ids = torch.ones(2, 3, dtype=torch.long)
    return Decoder(), (ids, torch.ones(2, 8, dtype=torch.long), ids, *cache), axes


class Pair(nn.Module):
    """A decoder step over an encoder's output, with caches of both kinds."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.own, self.cross = nn.Embedding(50, 16), Attention(), Attention()

    def forward(self, input_ids, encoder_attention_mask, k, v, ck, cv):
        x = self.words(input_ids)
        y, k, v = self.own(x, k, v)
        q = split(self.cross.q(x + y))
        scores = q @ ck.transpose(2, 3)
        scores = scores + (1 - encoder_attention_mask[:, None, None, :].float()) * -1e4
        z = (scores.softmax(-1) @ cv).transpose(1, 2)
        return z.reshape(z.shape[0], z.shape[1], -1), k, v


@kind
def encoder_decoder_step() -> Build:
    parts = [torch.randn(2, 2, n, 8) for n in (5, 5, 7, 7)]
    axes = {
        "input_ids": {0: "batch", 1: "decoder_sequence_length"},
        "encoder_attention_mask": {0: "batch", 1: "encoder_sequence_length"},
        "past_key_values.0.decoder.key": {0: "batch", 2: "past_decoder_sequence_length"},
        "past_key_values.0.decoder.value": {0: "batch", 2: "past_decoder_sequence_length"},
        "past_key_values.0.encoder.key": {0: "batch", 2: "encoder_sequence_length_out"},
        "past_key_values.0.encoder.value": {0: "batch", 2: "encoder_sequence_length_out"},
    }
    ids, mask = torch.ones(2, 1, dtype=torch.long), torch.ones(2, 7, dtype=torch.long)
    return Pair(), (ids, mask, *parts), axes


class Encoder(nn.Module):
    """Learned positions from a buffer, as in BERT and CLIP."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.words, self.places, self.layer = nn.Embedding(50, 16), nn.Embedding(most, 16), Attention()
        self.register_buffer("position_ids", torch.arange(most)[None])

    def forward(self, input_ids, attention_mask):
        x = self.words(input_ids) + self.places(self.position_ids[:, : input_ids.shape[1]])
        return self.layer(x, mask=attention_mask)[0]


def _text(most: int) -> Build:
    ids = torch.ones(2, 9, dtype=torch.long)
    axes = {name: {0: "b", 1: "s"} for name in ("input_ids", "attention_mask")}
    return Encoder(most), (ids, ids), axes


@kind
def text_of_512_positions() -> Build:
    return _text(512)


@kind
def text_of_77_positions() -> Build:
    return _text(77)


class UNet(nn.Module):
    """``depth`` strided levels, each joined with its mirror."""

    def __init__(self, depth: int) -> None:
        super().__init__()
        self.down = nn.ModuleList(nn.Conv2d(3 if i == 0 else 4, 4, 3, 2, 1) for i in range(depth))
        self.up = nn.ModuleList(nn.ConvTranspose2d(4 if i == depth - 1 else 8, 4, 2, 2) for i in range(depth))

    def forward(self, image):
        kept, x = [], image
        for layer in self.down:
            x = layer(x)
            kept.append(x)
        x = kept.pop()
        for i in reversed(range(len(self.up))):
            x = self.up[i](x)
            if kept:
                x = torch.cat([x, kept.pop()], 1)
        return x


@kind
def unet_of_stride_32() -> Build:
    return UNet(5), (torch.randn(1, 3, 64, 64),), {"image": {0: "n", 2: "h", 3: "w"}}


@kind
def unet_of_stride_64() -> Build:
    return UNet(6), (torch.randn(1, 3, 64, 64),), {"sample": {0: "n", 2: "dim_2", 3: "dim_3"}}


class Line(nn.Module):
    """A text line: the height collapses to one row."""

    def __init__(self, height: int) -> None:
        super().__init__()
        self.a = nn.Conv2d(3, 8, 3, (height // 4, 2), 1)
        self.b = nn.Conv2d(8, 8, (4, 3), (4, 1), (0, 1))
        self.rnn = nn.LSTM(8, 6, bidirectional=True, batch_first=True)

    def forward(self, x):
        x = self.b(self.a(x)).squeeze(2).transpose(1, 2)
        return self.rnn(x)[0]


@kind
def line_of_32() -> Build:
    return Line(32), (torch.randn(1, 3, 32, 100),), {"x": {0: "n", 2: "h", 3: "w"}}


@kind
def line_of_48() -> Build:
    return Line(48), (torch.randn(1, 3, 48, 100),), {"x": {0: "n", 2: "h", 3: "w"}}


class Voice(nn.Module):
    """A window of sound, a recurrent state."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.rnn, self.out = nn.Conv1d(1, 8, 256, 128), nn.LSTM(24, 6), nn.Linear(6, 1)

    def forward(self, input, h, c):
        x = fn.pad(input.unsqueeze(1), (32, 32), mode="reflect")
        x = self.conv(x).flatten(1)
        y, (h, c) = self.rnn(x[None], (h, c))
        return self.out(y), h, c


@kind
def voice_activity() -> Build:
    axes = {"input": {0: "b", 1: "n"}, "h": {1: "b2"}, "c": {1: "b3"}}
    return Voice(), (torch.randn(2, 512), torch.zeros(1, 2, 6), torch.zeros(1, 2, 6)), axes


class Wave(nn.Module):
    """Sound through strided convolutions into attention, as wav2vec."""

    def __init__(self) -> None:
        super().__init__()
        self.convs = nn.Sequential(nn.Conv1d(1, 16, 10, 5), nn.Conv1d(16, 16, 8, 4), nn.Conv1d(16, 16, 4, 2))
        self.layer = Attention()

    def forward(self, input_values):
        return self.layer(self.convs(input_values[:, None]).transpose(1, 2))[0]


@kind
def sound_to_text() -> Build:
    return Wave(), (torch.randn(1, 4000),), {"input_values": {0: "batch", 1: "sequence"}}


class Conformer(nn.Module):
    """Subsampling by 4, relative positions by a table that is cut to length, lengths as an input."""

    def __init__(self) -> None:
        super().__init__()
        self.sub = nn.Sequential(nn.Conv2d(1, 4, 3, 2), nn.ReLU(), nn.Conv2d(4, 4, 3, 2))
        self.into, self.layer, self.mix = nn.Linear(4 * 19, 16), Attention(), nn.Conv1d(16, 16, 15, padding=7)
        self.register_buffer("table", torch.randn(1, 2000, 16))

    def forward(self, feats, feats_lengths):
        x = self.sub(feats[:, None])
        x = self.into(x.transpose(1, 2).flatten(2))
        x = x + self.table[:, : x.shape[1]]
        keep = torch.arange(x.shape[1])[None] < (feats_lengths[:, None] // 4)
        x = self.layer(x, mask=keep)[0]
        return x + self.mix(x.transpose(1, 2)).transpose(1, 2)


@kind
def conformer() -> Build:
    axes = {"feats": {0: "B", 1: "T"}, "feats_lengths": {0: "B"}}
    return Conformer(), (torch.randn(2, 100, 80), torch.tensor([100, 90])), axes


class Stream(nn.Module):
    """A chunk of frames and the frames that a causal convolution remembers."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv1d(24, 24, 9, groups=24)
        self.down = nn.Conv1d(24, 24, 8, 8)

    def forward(self, chunk, cache):
        x = torch.cat([cache, chunk], 2)
        return self.down(self.conv(x)), x[:, :, -8:]


@kind
def streaming_chunk() -> Build:
    axes = {"chunk": {0: "n", 2: "t"}, "cache": {0: "n"}}
    return Stream(), (torch.randn(2, 24, 16), torch.zeros(2, 24, 8)), axes


class Detector(nn.Module):
    """Three levels from the top down, joined by doubling, and a fixed number of best boxes."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, 8, 1)
        self.a, self.b = nn.Conv2d(8, 8, 3, 2, 1), nn.Conv2d(8, 8, 3, 2, 1)
        self.head = nn.Conv2d(8, 5, 1)

    def forward(self, images):
        x = self.stem(images)
        y = self.a(x)
        z = self.b(y)
        y = y + fn.interpolate(z, scale_factor=2.0)
        x = x + fn.interpolate(y, scale_factor=2.0)
        boxes = torch.cat([self.head(p).flatten(2).transpose(1, 2) for p in (x, y, z)], 1)
        best = boxes[..., 4].topk(300, 1).indices
        return boxes.gather(1, best[..., None].expand(-1, -1, 5))


@kind
def detector() -> Build:
    return Detector(), (torch.randn(1, 3, 320, 320),), {"images": {0: "batch", 2: "height", 3: "width"}}


class Patches(nn.Module):
    """A vision transformer whose positions are stored for one size, and windows of 7 patches."""

    def __init__(self, size: int, window: int) -> None:
        super().__init__()
        self.patch, self.window, self.layer = nn.Conv2d(3, 16, 16, 16), window, Attention()
        self.places = nn.Parameter(torch.randn(1, 16, size, size)) if size else None

    def forward(self, pixel_values):
        x = self.patch(pixel_values)
        if self.places is not None:
            x = x + self.places
        b, c, h, w = x.shape
        if self.window:
            n = self.window
            x = x.view(b, c, h // n, n, w // n, n).permute(0, 2, 4, 3, 5, 1).reshape(-1, n * n, c)
        else:
            x = x.flatten(2).transpose(1, 2)
        return self.layer(x)[0]


@kind
def patches_of_384() -> Build:
    axes = {"pixel_values": {0: "batch", 2: "height", 3: "width"}}
    return Patches(24, 0), (torch.randn(1, 3, 384, 384),), axes


@kind
def windows_of_7() -> Build:
    axes = {"pixel_values": {0: "batch", 2: "height", 3: "width"}}
    return Patches(0, 7), (torch.randn(1, 3, 224, 224),), axes


@kind
def windows_of_6() -> Build:
    axes = {"pixel_values": {0: "batch", 2: "height", 3: "width"}}
    return Patches(0, 6), (torch.randn(1, 3, 192, 192),), axes


class Series(nn.Module):
    """A time series of a fixed length into a linear forecast."""

    def __init__(self) -> None:
        super().__init__()
        self.line = nn.Linear(336, 96)

    def forward(self, past_values):
        return self.line(past_values.transpose(1, 2)).transpose(1, 2)


@kind
def forecast() -> Build:
    return Series(), (torch.randn(2, 336, 7),), {"past_values": {0: "batch", 1: "context", 2: "channels"}}


class Table(nn.Module):
    """Rows of a table."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(37, 16), nn.ReLU(), nn.Linear(16, 2))

    def forward(self, rows):
        return self.layers(rows)


@kind
def table() -> Build:
    return Table(), (torch.randn(4, 37),), {"rows": {0: "rows", 1: "columns"}}


class Recurrent(nn.Module):
    """Layers of recurrent units with their states as inputs, batch first."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.rnn = nn.Embedding(50, 8), nn.GRU(8, 12, 2, batch_first=True)

    def forward(self, tokens, hidden):
        return self.rnn(self.words(tokens), hidden)


@kind
def recurrent_state() -> Build:
    axes = {"tokens": {0: "a", 1: "c"}, "hidden": {1: "d"}}
    return Recurrent(), (torch.ones(3, 5, dtype=torch.long), torch.zeros(2, 3, 12)), axes


class Video(nn.Module):
    """Frames of a clip, doubled strides in time."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = nn.Conv3d(3, 4, (8, 7, 7), (8, 4, 4)), nn.Conv3d(4, 4, (2, 7, 7), (2, 7, 7))

    def forward(self, video):
        return self.b(self.a(video)).mean((2, 3, 4))


@kind
def video() -> Build:
    axes = {"video": {0: "batch", 2: "frames", 3: "height", 4: "width"}}
    return Video(), (torch.randn(1, 3, 16, 64, 64),), axes
