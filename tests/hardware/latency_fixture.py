"""Payloads × devices × precisions → seconds: what both estimators are tested against.

``python tests/hardware/latency_fixture.py`` writes ``tests/data/latency_cases.json``, which the viewer's own
test reads as well. Its format is in ``tests/data/README.md``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from onnx import TensorProto, helper

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))

from graphs import Graph, convnet, transformer

from py_autodoc.hardware.latency_estimate import estimate
from py_autodoc.hardware.latency_model import device
from py_autodoc.hardware.profile import PRECISIONS, Profile, find_profile
from py_autodoc.hardware.runtimes import RUNTIMES, TENSORRT, VENDOR, Runtime, runtime, usual
from py_autodoc.report.builders.hardware_section import required_bytes
from py_autodoc.report.pipeline.analysis import Analysis, Options, run_analysis
from py_autodoc.report.pipeline.device_analysis import estimate_inputs, kernels_in
from py_autodoc.report.viewer_payload.build_payload import build_payload
from py_autodoc.report.viewer_payload.hardware_columns import _columns, latency_model

DATA = Path(__file__).parents[1] / "data"
FIXTURE = DATA / "latency_cases.json"
DEVICES = (
    "a100-sxm4-40gb", "t4", "l40s", "rtx-4090", "rtx-4060-laptop", "jetson-orin-nx-16gb", "mi300x",
    "apple-m2", "tpu-v5e", "xeon-8480-plus", "core-i7-12700h", "hailo-8",
)  # fmt: skip
"""One of each band, without units, without fp32, two CPUs; of the last one no bandwidth is known."""
RUN_ELSEWHERE = ("transformer", "convnet", "rest", "qdq", "loop")
"""Models whose other runtimes are compared as well, on ``ELSEWHERE``."""
ELSEWHERE = ("a100-sxm4-40gb", "t4", "core-i7-12700h")
EXPECTED = ("seconds", "low", "high", "ideal", "label", "bottleneck", "unknown")
CUSTOM = Profile(
    name="own", id="custom:own", vram_bytes=1 << 34, memory_bandwidth_bytes_per_s=1e12,
    peak_fp16_flops=1e14, peak_fp32_flops=5e13,
)  # fmt: skip
MEASURED = Profile(
    name="this machine", id="custom:this-machine", type="cpu", category="cpu", confidence="custom",
    vram_bytes=1 << 35, memory_bandwidth_bytes_per_s=6e10, peak_fp32_flops=2e11,
    measured_product_flops=1e11, measured_convolution_flops=1.5e11, measured_depthwise_flops=5e10,
    measured_bandwidth_bytes_per_s=2e10, measured_start_seconds=4e-7,
)  # fmt: skip


def rest() -> Any:
    """Batched products, attention in one operator, an LSTM, QDQ, packed weights, text-free odds and ends."""
    g = Graph(a=[3, 40, 32], b=[3, 32, 50], q=[2, 70, 64], s=[5, 1, 16])
    product = g.op("Softmax", g.op("MatMul", "a", "b"))
    pair = g.op("Concat", product, g.op("Slice", product, g.ints(0), g.ints(20), g.ints(1)), axis=1)
    whole = g.op("MultiHeadAttention", "q", "q", "q", domain="com.microsoft", num_heads=8)
    wide, narrow = g.linear(whole, 64, 256), g.linear(whole, 64, 32)
    lstm = g.op("LSTM", "s", g.weight(1, 64, 16), g.weight(1, 64, 16), hidden_size=16, outputs=3)
    scale, zero = g.scalar(0.1), g.scalar(0, np.int8)
    kernel = g.op("DequantizeLinear", g.weight(64, 64, dtype=np.int8), scale, zero)
    folded = g.quantized(g.op("MatMul", g.quantized(whole), kernel))
    table = g.op("Gather", g.weight(500, 64), g.op("ArgMax", folded, axis=-1, keepdims=0))
    pairs = g.op("Einsum", "a", "a", equation="bij,bij->bij")
    total = g.op("CumSum", g.op("Sin", pairs), g.scalar(2, np.int64))
    volume = g.op("Reshape", total, g.ints(1, 3, 8, 5, 32))
    solid = g.op("Conv", volume, g.weight(4, 3, 3, 3, 3), pads=[1] * 6)
    return g.model(pair, wide, narrow, lstm[0], folded, table, solid)


def steps() -> Any:
    """Recurrent layers both ways and in both layouts, a mixture of experts, and one of packed weights."""
    g = Graph(s=[50, 4, 96], b=[4, 30, 32], t=[2, 24, 64])
    lstm = g.op("LSTM", "s", g.weight(2, 512, 96), g.weight(2, 512, 128), hidden_size=128,
                direction="bidirectional", outputs=3)  # fmt: skip
    gru = g.op("GRU", "b", g.weight(1, 96, 32), g.weight(1, 96, 32), hidden_size=32, layout=1, outputs=2)
    router = g.op("Reshape", g.linear("t", 64, 8), g.ints(48, 8))
    moe = g.op(
        "MoE", "t", router, g.weight(8, 64, 128), "", g.weight(8, 128, 64), domain="com.microsoft", k=2
    )
    return g.model(lstm[0], gru[1], moe)


def experts(tokens: int | str = 20, experts: int = 4, chosen: int = 2) -> Any:
    """A mixture of experts as exporters write it: each works on the rows that a NonZero picks."""
    g = Graph(t=[tokens, 32])
    weights, picked = g.op("TopK", g.op("Softmax", g.linear("t", 32, experts)), g.ints(chosen), outputs=2)
    total = g.op("Mul", "t", g.scalar(0))
    for expert in range(experts):
        mine = g.op("Equal", picked, g.scalar(expert, np.int64))
        at = g.op("NonZero", mine)
        row = g.op("Transpose", g.op("Slice", at, g.ints(0), g.ints(1), g.ints(0)))
        inner = g.op("Relu", g.linear(g.op("GatherND", "t", row), 32, 48))
        scale = g.op("Unsqueeze", g.op("GatherND", weights, g.op("Transpose", at)), g.ints(1))
        made = g.op("Mul", g.linear(inner, 48, 32), scale)
        total = g.op("ScatterND", total, row, made, reduction="add")
    return g.model(total)


def mystery() -> Any:
    """An operator that nobody knows between two that are known."""
    g = Graph(x=[2, 64])
    g.op("Relu", g.op("Mystery", g.linear("x", 64, 64), domain="com.example"))
    return g.model()


def looped(trips: int | None) -> Any:
    """A Loop around x · w; ``trips`` None: the count is an input."""
    g = Graph(x=[16, 64])
    body = helper.make_graph(
        [
            helper.make_node("Identity", ["cond"], ["cond_out"]),
            helper.make_node("MatMul", ["state", "w"], ["next"], name="step"),
        ],
        "body",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, []),
            helper.make_tensor_value_info("cond", TensorProto.BOOL, []),
            helper.make_tensor_value_info("state", TensorProto.FLOAT, [16, 64]),
        ],
        [
            helper.make_tensor_value_info("cond_out", TensorProto.BOOL, []),
            helper.make_tensor_value_info("next", TensorProto.FLOAT, [16, 64]),
        ],
        initializer=[helper.make_tensor("w", TensorProto.FLOAT, [64, 64], [0.0] * 4096)],
    )
    count = "n" if trips is None else g.ints(trips)
    if trips is None:
        g.inputs.append(helper.make_tensor_value_info("n", TensorProto.INT64, [1]))
    state = g.op("Loop", g.op("Squeeze", count), "", g.op("Relu", "x"), body=body)
    g.op("Add", state, state)
    return g.model()


def idle() -> Any:
    """Nothing of it runs: a view of the input."""
    g = Graph(x=[16, 64])
    g.op("Reshape", "x", g.ints(64, 16))
    return g.model()


def analyses() -> dict[str, Analysis]:
    """The models of the cases."""
    return {
        "transformer": run_analysis(transformer()),
        "transformer-large": run_analysis(transformer(16, 384)),
        "transformer-free": run_analysis(transformer("batch", "seq")),
        "convnet": run_analysis(convnet()),
        "convnet-large": run_analysis(convnet(128)),
        "rest": run_analysis(rest()),
        "steps": run_analysis(steps()),
        "mystery": run_analysis(mystery()),
        "loop": run_analysis(looped(7)),
        "loop-never": run_analysis(looped(0)),
        "loop-unknown": run_analysis(looped(None)),
        "nothing": run_analysis(idle()),
        "experts": run_analysis(experts()),
        "experts-free": run_analysis(experts("tokens")),
        "qdq": run_analysis(str(DATA / "models/resnet_tiny_qdq_int8.onnx"), Options(assume=True)),
    }


def _profile(name: str) -> Profile:
    return {"custom:own": CUSTOM, MEASURED.id: MEASURED}.get(name) or find_profile(name)


def cases(name: str, analysis: Analysis) -> list[dict[str, Any]]:
    """What is expected of a model on every device and in every precision."""
    assert analysis.kernels is not None
    found = []
    for wanted in (*DEVICES, "custom:own", MEASURED.id):
        one = device(_profile(wanted))
        for precision in PRECISIONS:
            case: dict[str, Any] = {"payload": name, "device": wanted, "precision": precision}
            if name in RUN_ELSEWHERE and wanted in ELSEWHERE and one is not None and one.peak(precision):
                found += [_elsewhere(case, analysis, runs.id) for runs in listed_runtimes()]
            if one is None or one.peak(precision) is None:
                found.append({**case, "seconds": None})
                continue
            model = estimate_inputs(analysis)
            # The payload of some models lists no other runtime.
            runs = usual(one) if name in RUN_ELSEWHERE or usual(one) is VENDOR else TENSORRT
            result = estimate(kernels_in(analysis, runs), model, one, precision, runs.model)
            times = [None if time is None else time.seconds for time in result.kernels]
            case |= {key: getattr(result, key) for key in EXPECTED}
            required = required_bytes(analysis, model, precision)
            found.append({**case, "usual": runs.id, "required": required, "kernels": times})
    return found


def listed_runtimes() -> list[Runtime]:
    """The runtimes that a payload lists in addition to TensorRT."""
    return [runs for runs in RUNTIMES if runs not in (TENSORRT, VENDOR)]


def _elsewhere(case: dict[str, Any], analysis: Analysis, name: str) -> dict[str, Any]:
    """A case in another runtime."""
    runs = runtime(name)
    one = device(_profile(case["device"]))
    assert one is not None
    result = estimate(
        kernels_in(analysis, runs), estimate_inputs(analysis), one, case["precision"], runs.model
    )
    times = [None if time is None else time.seconds for time in result.kernels]
    return {**case, "runtime": name, **{key: getattr(result, key) for key in EXPECTED}, "kernels": times}


def payload(analysis: Analysis, elsewhere: bool = False) -> dict[str, Any]:
    """The payload, less what the estimate does not read; devices and constants stand once for all."""
    whole = msgspec.structs.replace(
        build_payload(analysis), expressions=None, timeline=None, risk_signals=[], diagnostics=[], blocks=None
    )
    found: dict[str, Any] = msgspec.to_builtins(whole)
    if "attributes" in found:
        found["attributes"] = None
    found["hardware"] = {**found["hardware"], "devices": None, "model": None}
    if not elsewhere:
        found["hardware"].pop("runtimes", None)
    return found


def fixture() -> bytes:
    """The JSON text of the fixture: a payload and a case a line."""
    models = analyses()
    listed = [found for name in (*DEVICES, CUSTOM.id, MEASURED.id) if (found := device(_profile(name)))]
    devices = msgspec.to_builtins(_columns(tuple(listed)))
    parts = [
        f'"devices": {json.dumps(devices)}',
        f'"model": {json.dumps(msgspec.to_builtins(latency_model()))}',
        _lines("payloads", {name: payload(one, name in RUN_ELSEWHERE) for name, one in models.items()}),
        _lines("cases", [case for name, one in models.items() for case in cases(name, one)]),
    ]
    return ("{\n" + ",\n".join(parts) + "\n}\n").encode()


def _lines(key: str, value: dict[str, Any] | list[Any]) -> str:
    if isinstance(value, dict):
        rows = [f"{json.dumps(name)}: {json.dumps(one, ensure_ascii=False)}" for name, one in value.items()]
        return f'"{key}": {{\n' + ",\n".join(rows) + "\n}"
    return f'"{key}": [\n' + ",\n".join(json.dumps(one) for one in value) + "\n]"


if __name__ == "__main__":
    FIXTURE.write_bytes(fixture())
