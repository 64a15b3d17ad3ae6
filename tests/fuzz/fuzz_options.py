"""Options of a command line: mostly values that mean something, so that what is behind them is reached."""

from __future__ import annotations

import io
import json
import random

import click
import fuzz_mutate
import fuzz_seeds
import numpy as np

NAMES = (
    "batch=1", "batch=0", "batch=-1", "batch=99999999999999999999", "*=2", "*=0", "x=", "=1", "x",
    "n=1e3", "batch=2",
    "x=1x4", "x=2x4", "x=0x4", "x=batchx4", "x=-1x4", "x=1x1x1x1x1x1x1x1x1", "x=", "h=" + "9" * 400,
    "é=1", "c=",
    "/Net/Block.0", "/Net", "Net", "*", "y", "h", "t", "w", "0", "1", "-1", "l4", "nonsense", "fp16",
    "int8", "[", "a" * 300,
)  # fmt: skip
SENSE = {
    "auto": ("agreement>=0.9", "sqnr>=20", "kl<=1", "speed>2", "sqnr>=nan"),
    "method": ("static", "dynamic", "fp16", "int8-weights", "int4-weights", "x"),
    "runs": ("1", "2"),
    "warmup": ("0", "1"),
    "memory": ("1MB", "3GiB", "0", "x"),
    "budget": ("0", "1", "-1", "nan"),
    "bind": ("batch=1", "batch=2", "*=1", "*=3", "N=2", "n=4"),
    "input_shape": ("x=2x4", "x=1x4", "x=2x4", "x=7x4", "x=1x3x8x8", "x=1x3x4x8", "x=1x3x16x16"),
    "resize": ("x=1x3x8x8", "x=1x3x4x8", "x=1x3x16x16", "x=4x4", "x=7x4"),
    "batch": ("1", "2", "2", "8", "n", "batch", "1,2", "4,1,2"),
    "max_params": ("1k", "100M", "0", "-1"),
    "max_macs": ("1k", "5G"),
    "max_flops": ("1", "1T"),
    "max_weights": ("1KiB", "1GB"),
    "max_size": ("10", "1GB"),
    "max_peak_memory": ("1kB", "8GB"),
    "require": (
        "opset>=17",
        "runs",
        "static",
        "fits",
        "coverage>=95%",
        "precision=int8",
        "producer~torch",
        "macs<1",
    ),
    "where": ("op=Conv", "macs=?", "!(in[0].shape[0]>1)", "module~Net", "("),
    "ignore": ("unused-initializer", "*", "none"),
    "forbid_op": ("Relu", "Loop", "com.microsoft::*", "*"),
    "allow_op": ("*", "Conv", "ai.onnx::*"),
    "baseline": ("m.onnx", "none.json", "out-out_json.json"),
    "tolerance": ("5%", "macs=1%", "0", "size=x"),
    "fail_on": ("high", "info", "macs>+5%", "architecture", "size>1", "new-findings", "weights"),
    "unknown": ("fail", "warn"),
    "eval_metrics": ("e.json",),
    "baseline_precision": ("fp32", "int8", "unknown"),
    "runtime": ("tensorrt", "ort-cuda", "pytorch-eager", "torch-compile"),
    "llm_url": ("http://127.0.0.1:9", "https://", "file:///etc/passwd"),
    "llm_model": ("m",),
    "target": ("edge", "local", "cloud", "moon", "cpu-vnni", "cpu-avx2", "tensorrt"),
    "target_latency": ("10ms", "1us", "soon"),
    "target_throughput": ("1", "1000", "-1"),
    "max_power": ("30", "0"),
    "cloud": ("aws", "mars"),
    "category": ("edge", "cpu", "x"),
    "max_memory": ("8GB", "1 MiB", "0"),
    "max_latency": ("10ms", "0.5s", "1us"),
    "axis": ("x=0", "x=0", "x=1", "x=-1", "c=0"),
    "same": ("x", "c", "y"),
    "tag": ("/Net", "/Net/Block.0", "/Net/Block.1", "/Net/Block.0/Part.2", "/Net/Block.2/Part.1"),
    "node": tuple(map(str, range(21))),
    "tensor": ("h", "y", "t", "looped", "attended", "g", "b", "xq"),
    "pattern": ("*", "/Net*", "/Net/Block.?/*", "**/Part.1", "Block.0"),
    "hardware": ("l4", "h100-sxm", "rtx-4090", "a100-sxm4-80gb"),
    "precision": ("fp16", "fp32", "int8", "bf16"),
    "dynamic": ("batch", "batch,seq", "x:0=n"),
    "keep": ("Linear", "*"),
    "task": ("text-classification", "feature-extraction"),
    "input_text": ("two words", ""),
    "extract_processor": ("processor", "processor/"),
}
"""Parameter → values that somebody might give it."""
PICTURES = {"svg": 1, "png": 1, "html": 3, "dot": 6, "netron": 6, "model-explorer": 6}
"""How often; the first two start another process."""
NOT_DRAWN = {"help", "progress"}
ONE_OF = {"extract": ("tag", "node", "tensor")}
"""Of these a command needs one."""
READ_DIRECTLY = {
    "opset", "input_shape", "sidecar", "external_data", "report_json", "report_md", "embed_metadata",
    "embed_processor", "force", "log_level", "seed",
}  # fmt: skip
"""Options of ``export`` that files of Keras have a use for."""


def drawn(
    dice: random.Random, command: str, parameters: list[click.Parameter], files: dict[str, bytes], kind: str
) -> list[str]:
    """Options of a command; ``files`` gets those that they name, ``kind`` is that of an export's source."""
    needed = dice.choice(ONE_OF.get(command, ("",)))
    # Many options at once mostly tell of the first that is wrong.
    chance = dice.choice((0.0, 0.0, 0.03, 0.03, 0.03, 0.1))
    found: list[str] = []
    for parameter in parameters:
        name = parameter.name or ""
        if not isinstance(parameter, click.Option) or name in NOT_DRAWN:
            continue
        if kind == "keras" and name not in READ_DIRECTLY and (name == "exporter" or dice.random() < 0.95):
            # The one not drawn would have Keras run the model, which is not ours.
            continue
        if name in ("json", "as_json", "assume", "listing", "bind"):
            likely = 0.25
        elif name == "random_weights" and kind == "folder":
            likely = 0.9
        elif name == "precision":
            likely = 0.5 if "--hardware" in found else chance / 5
        elif name == "list_hardware":  # is all that a command then does
            likely = chance / 20
        else:
            likely = chance
        if parameter.required or name == needed or dice.random() < likely:
            found += _option(dice, command, parameter, files)
    return found


def _option(dice: random.Random, command: str, parameter: click.Option, files: dict[str, bytes]) -> list[str]:
    flag, name = parameter.opts[0], parameter.name or ""
    if parameter.is_flag:
        return [dice.choice([*parameter.opts, *parameter.secondary_opts])]
    if isinstance(parameter.type, click.Choice):
        choices = list(parameter.type.choices)
        if command == "graph" and name == "format":
            choices = [kind for kind, often in PICTURES.items() for _ in range(often)]
        return [flag, dice.choice(choices)]
    if name in ("restore", "assign", "beside", "report_json", "report_md", "jit_graph", "fx_graph") or (
        name.startswith("out")
    ):
        return [flag, _output(dice, command, name)]
    if name == "thresholds":
        return [flag, _settings(dice, files)]
    if name == "against" and dice.random() < 0.7:
        seeds = fuzz_seeds.models()
        files["r.onnx"] = fuzz_mutate.model(dice, dice.choice(seeds), dice.choice(seeds))
        return [flag, dice.choice(("r.onnx", "m.onnx", "m.onnx"))]
    if name == "recipe" and dice.random() < 0.7:
        held = {"method": "dynamic", "exclude": ["op=Gemm"], "block_size": 32}
        files["recipe.json"] = json.dumps(fuzz_mutate.tree(dice, held)).encode()
        return [flag, "recipe.json"]
    if name == "profile" and dice.random() < 0.7:
        rows = [{"cat": "Node", "name": "a_kernel_time", "ts": 1, "dur": 2}, {"name": "b", "averageMs": 0.1}]
        files["p.json"] = json.dumps(fuzz_mutate.tree(dice, rows)).encode()
        return [flag, "p.json"]
    if name == "layer_info" and dice.random() < 0.7:
        layers = [
            {"Name": "b", "LayerType": "Reformat", "Metadata": "[ONNX Layer: a]\x1f[ONNX Layer: y]"},
            "a",
        ]
        files["l.json"] = json.dumps(fuzz_mutate.tree(dice, {"Layers": layers})).encode()
        return [flag, "l.json"]
    if name == "data" and command == "run" and dice.random() < 0.3:
        rows = [json.dumps(fuzz_mutate.tree(dice, {"text": "a b", "label": 1})) for _ in range(3)]
        held = "\n".join(rows).encode()
        files["t.jsonl"] = fuzz_mutate.raw(dice, held, held) if dice.random() < 0.3 else held
        return [flag, "t.jsonl"]
    if name == "tokenizer" and dice.random() < 0.7:
        model = {"type": "WordLevel", "vocab": {"a": 0, "b": 1, "[UNK]": 2}, "unk_token": "[UNK]"}
        held = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "model": model}
        files["tokenizer.json"] = json.dumps(fuzz_mutate.tree(dice, held)).encode()
        return [flag, "tokenizer.json"]
    if name in ("inputs", "data", "against"):
        files["in.npz"] = _arrays(dice)
        return [flag, "in.npz"]
    if name == "hardware" and dice.random() < 0.6:
        files["device.json"] = json.dumps(fuzz_mutate.tree(dice, fuzz_seeds.profile())).encode()
        return [flag, "device.json"]
    if name in SENSE and dice.random() < 0.8:
        return [flag, dice.choice(SENSE[name])]
    if isinstance(parameter.type, (click.types.IntParamType, click.types.FloatParamType)):
        return [flag, str(dice.choice((-1, 0, 1, 1, 1, 2, 2, 3, 8, 21, 1000, 2**40)))]
    return [flag, dice.choice(NAMES)]


def _output(dice: random.Random, command: str, name: str) -> str:
    endings = {"beside": "html", "restore": "onnx", "assign": "onnx", "report_md": "md", "out_csv": "csv"}
    ending = endings.get(name, "html" if "html" in name else "json")
    if command == "graph":
        ending = dice.choice([kind for kind, often in PICTURES.items() for _ in range(often)])
        ending = ending if ending in ("svg", "png", "html", "dot") else f"{ending}.json"
    return dice.choice((f"out-{name}.{ending}",) * 12 + ("-", ".", "none/out", "m.onnx", ""))


def _arrays(dice: random.Random) -> bytes:
    held = io.BytesIO()
    np.savez(held, x=np.ones((1, 4), "f4"), input_ids=np.arange(6).reshape(2, 3))
    return fuzz_mutate.raw(dice, held.getvalue(), held.getvalue())


def _settings(dice: random.Random, files: dict[str, bytes]) -> str:
    chosen = fuzz_mutate.tree(dice, fuzz_seeds.thresholds())
    if dice.random() < 0.5 or not isinstance(chosen, dict):
        files["t.json"] = json.dumps(chosen).encode()
        return "t.json"
    lines = []
    for key, value in chosen.items():
        lines.append(f"[{json.dumps(key)}]")
        inner = value if isinstance(value, dict) else {"x": value}
        lines += [f"{one} = {json.dumps(held)}" for one, held in inner.items()]
    text = "\n".join(lines).encode()
    files["t.toml"] = fuzz_mutate.raw(dice, text, text) if dice.random() < 0.5 else text
    return "t.toml"
