"""SQNR, CPU time and size of quantized models, against ONNX Runtime's quantizer and NNCF in the same run.

    python benchmarks/quantize.py [--models NAME,…] [--nncf PYTHON] [--keep DIR]

Seven models, as people quantize them: a digit CNN and a wake-word network from this repository's data, and
five that are exported here after a short training (a character GPT with a finite attention mask, a text
transformer, a ViT and a MobileNetV3-like network on digits, a CRNN for captchas). Ranges come from one set
of samples, SQNR from others, in ONNX Runtime as it runs the file on this CPU. Speed is the ratio of CPU
times in one thread, models in turn.

Rivals: ``quantize_static`` after ``quant_pre_process`` with per-channel and per-tensor scales, reduced
ranges, MinMax, Entropy and Percentile calibration; ``quantize_dynamic``; NNCF's ``quantize`` with
``--nncf``, a Python that has it (it needs other versions than we pin). At the end of each model: SQNR of
ours minus the best rival's. Exit status 1 if the best of ours is more than 1 dB below it.
"""

from __future__ import annotations

import argparse
import logging
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from onnxruntime.quantization import (
    CalibrationDataReader,
    CalibrationMethod,
    QuantFormat,
    QuantType,
    quantize_dynamic,
    quantize_static,
)
from onnxruntime.quantization.shape_inference import quant_pre_process

from py_autodoc.errors import AutodocError
from py_autodoc.ort import open_session
from py_autodoc.quantize import Recipe, quantize
from py_autodoc.quantize.speed import cpu_time

DATA = Path(__file__).parents[1] / "tests/data/quant"
Samples = list[dict[str, np.ndarray]]
Made = tuple[Path, Samples, Samples]
MISS_DB = 1.0
_NNCF = """
import sys, numpy as np, onnx, nncf
source, target, data, preset = sys.argv[1:5]
held = np.load(data)
rows = [{name: held[name][i] for name in held.files} for i in range(len(held[held.files[0]]))]
made = nncf.quantize(onnx.load(source), nncf.Dataset(rows), subset_size=len(rows),
                     preset=nncf.QuantizationPreset(preset))
onnx.save(made, target)
"""


# ---- models


def digits_cnn(folder: Path) -> Made:
    held = np.load(DATA / "digits.npz")["image"][:, None].astype(np.float32)
    rows = [{"image": one} for one in held.reshape(-1, 1, 1, 8, 8)]
    return DATA / "digits_cnn.onnx", rows[: len(rows) // 2], rows[len(rows) // 2 :]


def _trained(model: Any, batches: Callable[[int], tuple[Any, Any]], steps: int, loss: Any) -> None:
    import torch

    torch.set_num_threads(1)  # threads of small layers wait for each other
    optimizer = torch.optim.AdamW(model.parameters(), 2e-3)
    model.train()
    for step in range(steps):
        x, y = batches(step)
        optimizer.zero_grad()
        loss(model(x), y).backward()
        optimizer.step()
    model.eval()


def _exported(model: Any, example: Any, path: Path) -> None:
    import torch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            model,
            (example,),
            path,
            input_names=["x"],
            opset_version=17,
            dynamo=False,
            do_constant_folding=True,
        )


def _rows(values: Any) -> Samples:
    return [{"x": one[None]} for one in np.asarray(values)]


def _digits() -> tuple[Any, Any]:
    import torch

    held = np.load(DATA / "digits.npz")
    images = torch.from_numpy(held["image"].reshape(-1, 1, 8, 8).astype(np.float32))
    return images, torch.from_numpy(held["labels"].reshape(-1).astype(np.int64))


def _noisy(images: Any, labels: Any, step: int, count: int = 64) -> tuple[Any, Any]:
    import torch

    random = torch.Generator().manual_seed(step)
    chosen = torch.randint(0, len(images), (count,), generator=random)
    noise = torch.randn(images[chosen].shape, generator=random) * images.std() / 4
    return images[chosen] + noise, labels[chosen]


def vit(folder: Path) -> Made:
    """Patches of 2×2, four layers of width 64."""
    import torch
    from torch import nn

    class Vit(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.patches = nn.Conv2d(1, 64, 2, 2)
            self.position = nn.Parameter(torch.randn(1, 16, 64) / 8)
            layer = nn.TransformerEncoderLayer(64, 4, 128, 0.0, "gelu", batch_first=True, norm_first=True)
            self.layers = nn.TransformerEncoder(layer, 4, nn.LayerNorm(64), enable_nested_tensor=False)
            self.head = nn.Linear(64, 10)

        def forward(self, x: Any) -> Any:
            tokens = self.patches(x).flatten(2).transpose(1, 2) + self.position
            return self.head(self.layers(tokens).mean(1))

    torch.manual_seed(0)
    images, labels = _digits()
    model = Vit()
    _trained(model, lambda step: _noisy(images, labels, step), 250, nn.CrossEntropyLoss())
    torch.backends.mha.set_fastpath_enabled(False)
    _exported(model, images[:1], folder / "vit.onnx")
    made = [_noisy(images, labels, step, 128)[0] for step in (9001, 9002)]
    return folder / "vit.onnx", _rows(made[0]), _rows(made[1])


def mobilenet(folder: Path) -> Made:
    """Inverted bottlenecks with HardSwish and squeeze-and-excitation at 32×32."""
    import torch
    from torch import nn

    class Squeeze(nn.Module):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.down, self.up = nn.Conv2d(width, width // 4, 1), nn.Conv2d(width // 4, width, 1)

        def forward(self, x: Any) -> Any:
            scale = self.up(torch.relu(self.down(x.mean((2, 3), keepdim=True))))
            return x * nn.functional.hardsigmoid(scale)

    def block(width: int, out: int, stride: int) -> nn.Module:
        inner = width * 3
        parts: list[nn.Module] = [
            nn.Conv2d(width, inner, 1, bias=False),
            nn.BatchNorm2d(inner),
            nn.Hardswish(),
        ]
        parts += [nn.Conv2d(inner, inner, 3, stride, 1, groups=inner, bias=False), nn.BatchNorm2d(inner)]
        parts += [nn.Hardswish(), Squeeze(inner), nn.Conv2d(inner, out, 1, bias=False), nn.BatchNorm2d(out)]
        return nn.Sequential(*parts)

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.stem = nn.Sequential(
                nn.Conv2d(1, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16), nn.Hardswish()
            )
            self.one, self.two, self.three = block(16, 16, 1), block(16, 32, 2), block(32, 32, 1)
            self.four, self.head = block(32, 48, 2), nn.Linear(48, 10)

        def forward(self, x: Any) -> Any:
            x = nn.functional.interpolate(x, scale_factor=4.0, mode="nearest")
            x = self.stem(x)
            x = self.two(x + self.one(x))
            x = self.four(x + self.three(x))
            return self.head(x.mean((2, 3)))

    torch.manual_seed(0)
    images, labels = _digits()
    model = Net()
    _trained(model, lambda step: _noisy(images, labels, step), 120, nn.CrossEntropyLoss())
    _exported(model, images[:1], folder / "mobilenet.onnx")
    made = [_noisy(images, labels, step, 128)[0] for step in (9001, 9002)]
    return folder / "mobilenet.onnx", _rows(made[0]), _rows(made[1])


_TEXT = (
    "the quick brown fox jumps over the lazy dog while seven wizards vex a jumbled box of quartz and "
    "every good model learns the order of letters from the letters that came before it, one by one. "
)


def gpt(folder: Path) -> Made:
    """Four causal layers of width 96 with the mask -3.4e38, as PyTorch exports it."""
    import torch
    from torch import nn

    letters = sorted(set(_TEXT))
    codes = torch.tensor([letters.index(one) for one in _TEXT * 4])

    class Layer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.before, self.after = nn.LayerNorm(96), nn.LayerNorm(96)
            self.qkv, self.out = nn.Linear(96, 288), nn.Linear(96, 96)
            self.up, self.down = nn.Linear(96, 384), nn.Linear(384, 96)

        def forward(self, x: Any, mask: Any) -> Any:
            batch, length, _ = x.shape
            q, k, v = self.qkv(self.before(x)).reshape(batch, length, 3, 4, 24).permute(2, 0, 3, 1, 4)
            scores = q @ k.transpose(-2, -1) / 24**0.5 + mask
            x = x + self.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, length, 96))
            return x + self.down(nn.functional.gelu(self.up(self.after(x))))

    class Gpt(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table, self.places = nn.Embedding(len(letters), 96), nn.Embedding(48, 96)
            self.layers, self.norm = nn.ModuleList([Layer() for _ in range(4)]), nn.LayerNorm(96)
            self.head = nn.Linear(96, len(letters), bias=False)
            mask = torch.full((48, 48), torch.finfo(torch.float32).min).triu(1)
            self.register_buffer("mask", mask[None, None])

        def forward(self, x: Any) -> Any:
            hidden = self.table(x) + self.places.weight
            for layer in self.layers:
                hidden = layer(hidden, self.mask)
            return self.head(self.norm(hidden))

    def batch(step: int, count: int = 16) -> tuple[Any, Any]:
        begins = torch.randint(0, len(codes) - 50, (count,), generator=torch.Generator().manual_seed(step))
        rows = torch.stack([codes[one : one + 49] for one in begins])
        return rows[:, :-1], rows[:, 1:]

    torch.manual_seed(0)
    model = Gpt()
    _trained(
        model, batch, 150, lambda y, truth: nn.functional.cross_entropy(y.flatten(0, 1), truth.flatten())
    )
    _exported(model, batch(0)[0][:1], folder / "gpt.onnx")
    return folder / "gpt.onnx", _rows(batch(9001, 96)[0]), _rows(batch(9002, 64)[0])


def text_transformer(folder: Path) -> Made:
    """Two layers that classify which word a text repeats, from embeddings."""
    import torch
    from torch import nn

    class Text(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table = nn.Embedding(200, 96)
            layer = nn.TransformerEncoderLayer(96, 4, 256, 0.0, "gelu", batch_first=True)
            self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
            self.head = nn.Linear(96, 20)

        def forward(self, x: Any) -> Any:
            return self.head(self.layers(self.table(x)).mean(1))

    def batch(step: int, count: int = 64) -> tuple[Any, Any]:
        random = torch.Generator().manual_seed(step)
        x = torch.randint(20, 200, (count, 32), generator=random)
        y = torch.randint(0, 20, (count,), generator=random)
        places = torch.randint(0, 32, (count, 3), generator=random)
        return x.scatter(1, places, y[:, None].expand(-1, 3)), y

    torch.manual_seed(0)
    model = Text()
    _trained(model, batch, 200, nn.CrossEntropyLoss())
    torch.backends.mha.set_fastpath_enabled(False)
    _exported(model, batch(0)[0][:1], folder / "text.onnx")
    return folder / "text.onnx", _rows(batch(9001, 128)[0]), _rows(batch(9002, 128)[0])


def crnn(folder: Path) -> Made:
    """Convolutions and a bidirectional LSTM over four digits in a row."""
    import torch
    from torch import nn

    class Crnn(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            widths = (1, 24, 48, 64)
            self.layers = nn.Sequential(
                *[
                    part
                    for a, b in pairwise(widths)
                    for part in (
                        nn.Conv2d(a, b, 3, 1, 1, bias=False),
                        nn.BatchNorm2d(b),
                        nn.ReLU(),
                        nn.MaxPool2d((2, 1)),
                    )
                ]
            )
            self.lstm = nn.LSTM(64, 48, bidirectional=True, batch_first=True)
            self.head = nn.Linear(96, 10)

        def forward(self, x: Any) -> Any:
            held, _ = self.lstm(self.layers(x).flatten(1, 2).transpose(1, 2))
            return self.head(held)[:, 4::8]

    images, labels = _digits()

    def batch(step: int, count: int = 48) -> tuple[Any, Any]:
        x, y = _noisy(images, labels, step, count * 4)
        rows = x.reshape(count, 4, 1, 8, 8).permute(0, 2, 3, 1, 4).reshape(count, 1, 8, 32)
        return rows, y.reshape(count, 4)

    torch.manual_seed(0)
    model = Crnn()
    _trained(
        model, batch, 120, lambda y, truth: nn.functional.cross_entropy(y.flatten(0, 1), truth.flatten())
    )
    _exported(model, batch(0)[0][:1], folder / "crnn.onnx")
    return folder / "crnn.onnx", _rows(batch(9001, 64)[0]), _rows(batch(9002, 64)[0])


def wake_word(folder: Path) -> Made:
    """Depthwise separable convolutions over spectrograms, trained on three kinds of sweeps."""
    import torch
    from torch import nn

    def layer(a: int, b: int, groups: int, size: int, stride: int) -> list[nn.Module]:
        conv = nn.Conv2d(a, b, size, stride, size // 2, groups=groups, bias=False)
        return [conv, nn.BatchNorm2d(b), nn.ReLU6()]

    parts = layer(1, 32, 1, 3, 2)
    for _ in range(9):
        parts += [*layer(32, 32, 32, 3, 1), *layer(32, 32, 1, 1, 1)]
    model = nn.Sequential(*parts, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 3))

    def batch(step: int, count: int = 32) -> tuple[Any, Any]:
        random = torch.Generator().manual_seed(step)
        y = torch.randint(0, 3, (count,), generator=random)
        rows, columns = torch.arange(40.0)[:, None], torch.arange(32.0)
        begin = torch.rand(count, generator=random)[:, None, None] * 20
        slope = (y - 1)[:, None, None] * 0.6
        x = 8 * torch.exp(-((rows - begin - 10 - slope * columns) ** 2) / 8)
        return (x + torch.randn(x.shape, generator=random))[:, None], y

    torch.manual_seed(0)
    _trained(model, batch, 100, nn.CrossEntropyLoss())
    _exported(model, batch(0)[0][:1], folder / "wake.onnx")
    return folder / "wake.onnx", _rows(batch(9001, 128)[0]), _rows(batch(9002, 64)[0])


MODELS: dict[str, Callable[[Path], Made]] = {
    "digits-cnn": digits_cnn,
    "gpt": gpt,
    "text": text_transformer,
    "vit": vit,
    "mobilenet": mobilenet,
    "wake-word": wake_word,
    "crnn": crnn,
}


# ---- quantizers


class Rows(CalibrationDataReader):  # type: ignore[misc]
    """Samples for ONNX Runtime's calibration."""

    def __init__(self, samples: Samples) -> None:
        self.left = iter(samples)

    def get_next(self) -> dict[str, np.ndarray] | None:
        return next(self.left, None)


def _static(**settings: Any) -> Callable[[Path, Path, Samples], None]:
    def run(source: Path, target: Path, samples: Samples) -> None:
        quantize_static(source, target, Rows(samples), quant_format=QuantFormat.QDQ, **settings)

    return run


def _dynamic(source: Path, target: Path, samples: Samples) -> None:
    quantize_dynamic(source, target, weight_type=QuantType.QInt8, per_channel=True)


PRODUCTS = ["Conv", "MatMul", "Gemm"]
RIVALS: dict[str, Callable[[Path, Path, Samples], None]] = {
    "ort per-tensor": _static(),
    "ort per-channel": _static(per_channel=True),
    "ort per-channel, products": _static(per_channel=True, op_types_to_quantize=PRODUCTS),
    "ort reduced range": _static(per_channel=True, reduce_range=True, op_types_to_quantize=PRODUCTS),
    "ort u8": _static(
        per_channel=True,
        activation_type=QuantType.QUInt8,
        weight_type=QuantType.QInt8,
        op_types_to_quantize=PRODUCTS,
    ),
    "ort entropy": _static(
        per_channel=True, calibrate_method=CalibrationMethod.Entropy, op_types_to_quantize=PRODUCTS
    ),
    "ort percentile": _static(
        per_channel=True, calibrate_method=CalibrationMethod.Percentile, op_types_to_quantize=PRODUCTS
    ),
    "ort dynamic": _dynamic,
}
OURS = {
    "default": (Recipe(), ""),
    "auto": (Recipe(method="auto"), "balanced"),
    "auto, accuracy": (Recipe(method="auto"), "accuracy"),
    "dynamic": (Recipe(method="dynamic"), ""),
}


def _nncf(python: str, preset: str) -> Callable[[Path, Path, Samples], None]:
    def run(source: Path, target: Path, samples: Samples) -> None:
        data = target.with_suffix(".npz")
        np.savez(data, **{name: np.stack([one[name] for one in samples]) for name in samples[0]})
        command = [python, "-c", _NNCF, str(source), str(target), str(data), preset]
        subprocess.run(command, check=True, capture_output=True)

    return run


# ---- scores


def sqnr_db(before: Path, after: Path, samples: Samples) -> float:
    """Signal-to-noise ratio of the first output in dB, as ONNX Runtime runs the file."""
    signal = noise = 0.0
    sessions = [open_session(path, "The benchmark", threads=1) for path in (before, after)]
    for sample in samples:
        expected, found = (one.run(None, sample)[0].astype(np.float64) for one in sessions)
        signal += float((expected**2).sum())
        noise += float(((expected - found) ** 2).sum())
    return float("inf") if not noise else 10 * float(np.log10(signal / noise))


def scored(name: str, source: Path, target: Path, samples: Samples) -> tuple[str, float, float, int] | None:
    """Print and return name, SQNR in dB, speed and bytes of a file; None if it does not run."""
    try:
        db, times = sqnr_db(source, target, samples), cpu_time(source, target, samples)
    except AutodocError as fault:
        print(f"  {name:<28} does not run: {str(fault)[:90]}")
        return None
    speed = times.speed if times is not None else float("nan")
    size = target.stat().st_size
    print(f"  {name:<28} {db:6.1f} dB  {speed:5.2f}×  {size:>9,} bytes", flush=True)
    return name, db, speed, size


def _results(
    made: Made, runs: dict[str, Callable[[Path, Path, Samples], None]], folder: Path
) -> Iterator[tuple[str, float, float, int]]:
    source, ranges, held = made
    for number, (name, run) in enumerate(runs.items()):
        target = folder / f"made_{number}.onnx"
        try:
            run(source, target, ranges)
        except Exception as fault:  # noqa: BLE001 - rivals fail in their own ways
            said = str(getattr(fault, "stderr", b"") or fault).strip().splitlines()
            print(f"  {name:<28} fails: {said[-1][-90:] if said else type(fault).__name__}", flush=True)
            continue
        found = scored(name, made[0], target, held)
        if found is not None:
            yield found


def _ours(recipe: Recipe, goal: str) -> Callable[[Path, Path, Samples], None]:
    def run(source: Path, target: Path, samples: Samples) -> None:
        quantize(source, target, samples, recipe, goal=goal, force=True)

    return run


def main() -> int:
    """Run the comparison; 1 if ours misses."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--nncf", metavar="PYTHON")
    parser.add_argument("--keep", metavar="DIR", help="folder of the models")
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    rivals = dict(RIVALS)
    if options.nncf:
        rivals |= {f"nncf {preset}": _nncf(options.nncf, preset) for preset in ("mixed", "performance")}
    missed = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(options.keep or scratch)
        folder.mkdir(exist_ok=True)
        for name in options.models.split(","):
            made = MODELS[name](folder)
            print(f"{name}: {made[0].stat().st_size:,} bytes, {len(made[1])} samples for ranges", flush=True)
            prepared = Path(scratch) / "prepared.onnx"
            with suppress(Exception):
                quant_pre_process(made[0], prepared, skip_symbolic_shape=True)
            source = prepared if prepared.exists() else made[0]
            theirs = list(_results((source, made[1], made[2]), rivals, Path(scratch)))
            ours = {key: _ours(recipe, goal) for key, (recipe, goal) in OURS.items()}
            own = list(_results(made, ours, Path(scratch)))
            prepared.unlink(missing_ok=True)
            missed += _verdict(own, theirs, made[0].stat().st_size)
    return 1 if missed else 0


def _verdict(
    own: list[tuple[str, float, float, int]], theirs: list[tuple[str, float, float, int]], before: int
) -> bool:
    """Print ours against the best rival; return whether it is a miss."""
    best = max(theirs, key=lambda one: one[1])
    mine = max(own, key=lambda one: one[1])
    default, gap = own[0], mine[1] - best[1]
    print(
        f"  best of ours {mine[1]:.1f} dB ({mine[0]}), best rival {best[1]:.1f} dB ({best[0]}): {gap:+.1f} dB"
    )
    print(f"  default {default[1] - best[1]:+.1f} dB at {default[2] / best[2]:.2f} of that speed")
    larger = [one[0] for one in own if one[3] > before]
    if larger:
        print(f"  larger than the float file: {', '.join(larger)}")
    return mine[1] < best[1] - MISS_DB


if __name__ == "__main__":
    sys.exit(main())
