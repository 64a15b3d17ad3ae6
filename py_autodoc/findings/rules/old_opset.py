"""An operator set or file format version that current tools support poorly or not at all.

What it finds:
The imported version of ai.onnx. It is `info` below `quantization_opset` (13), `low` below `converter_opset`
(9), `medium` below `runtime_opset` (7); an IR version below `min_ir` (3) is `medium` too. Models without an
operator of ai.onnx are not reported.

Why it matters:
ONNX Runtime promises to run opset 7 and newer. TensorRT's parser is compatible back to opset 9. Per-channel
quantization in QDQ form needs the `axis` of QuantizeLinear and DequantizeLinear, which came with opset 13;
newer operators (LayerNormalization 17, GroupNormalization 18, Gelu 20, Attention 23) that runtimes have
fast kernels for appear as chains of small ones.

Example:
A classifier exported in 2018 with opset 8: it still runs, but TensorRT need not parse it and it cannot be
quantized per channel.

Instead:
Export again with a current opset (17 or newer). Where the training code is gone, convert the file with
`onnx.version_converter.convert_version(model, 17)` and compare the outputs.

References:
[ONNX Runtime compatibility](https://onnxruntime.ai/docs/reference/compatibility.html); [TensorRT ONNX opset
guide](https://docs.nvidia.com/deeplearning/tensorrt/latest/reference/onnx-opset-guide.html);
[QuantizeLinear, version 13](https://onnx.ai/onnx/operators/onnx__QuantizeLinear.html); [ONNX
versioning](https://github.com/onnx/onnx/blob/main/docs/Versioning.md).
"""

from __future__ import annotations

from collections.abc import Iterator

from py_autodoc.findings.registry import Finding, RuleContext, rule


@rule(
    "old-opset",
    "Outdated opset or IR version",
    ("medium", "low", "info"),
    quantization_opset=13,
    converter_opset=9,
    runtime_opset=7,
    min_ir=3,
)
def check(ctx: RuleContext) -> Iterator[Finding]:
    """Report at most one finding on the opset and one on the IR version."""
    limits, model = ctx.thresholds["old-opset"], ctx.model
    opset = model.opsets.get("", 0)
    used = sum(not node.domain for node in model.nodes)
    evidence: dict[str, int | float | str] = {
        "opset": opset,
        "ir_version": model.ir_version,
        "nodes_of_domain": used,
    }
    if used and opset > 0:
        steps = (
            ("medium", "runtime_opset", "ONNX Runtime does not promise to run it"),
            ("low", "converter_opset", "TensorRT does not promise to read it"),
            ("info", "quantization_opset", "quantizing weights per channel needs a newer one"),
        )
        for severity, name, why in steps:
            if opset < limits[name]:
                yield Finding(
                    severity,
                    f"The model uses opset {opset} of ai.onnx, below {limits[name]}: {why}.",
                    "Export it with opset 17 or newer, or convert it with onnx.version_converter and compare "
                    "the outputs.",
                    evidence={**evidence, "wanted": limits[name]},
                )
                break
    if used and 0 < model.ir_version < limits["min_ir"]:
        yield Finding(
            "medium",
            f"The file has IR version {model.ir_version}, below {limits['min_ir']}: tools do not read it.",
            "Export the model again, or load and save it with an older onnx release that still reads it.",
            evidence={**evidence, "wanted": limits["min_ir"]},
        )
