"""Quantization methods: functions from a prepared file to a quantized one. Plug-ins can add methods.

Entry points of the group ``onnx_autodoc.quantizers`` are functions ``(source, target, recipe, samples,
exclude)`` of paths, a ``Recipe``, samples and names of nodes; ``--method`` accepts their names.
"""

from __future__ import annotations

import io
import logging
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import onnx

from py_autodoc.errors import AnalysisError, InputError, OptionError
from py_autodoc.float_models import PRODUCTS
from py_autodoc.ort import one_line, quiet_default_logger
from py_autodoc.quantize.choices import GROUP, checked_method
from py_autodoc.quantize.half import half
from py_autodoc.quantize.out_of_reach import nothing_quantized
from py_autodoc.quantize.recipe import ALL, Recipe
from py_autodoc.quantize.storage import is_large, store
from py_autodoc.samples import Sample
from py_autodoc.similar_names import similar_names
from py_autodoc.temporary import scratch

Method = Callable[[Path, Path, Recipe, Sequence[Sample], Sequence[str]], None]
_TOOL = "onnxruntime.quantization"
_PERCENTILE = 99.999
_BINS, _LEVELS = 512, 128
"""Bins of a histogram for ``entropy``, and those into which its candidates are merged."""


def static(
    source: Path, target: Path, recipe: Recipe, samples: Sequence[Sample], exclude: Sequence[str]
) -> None:
    """Quantize with ranges of activations from samples."""
    with scratch() as folder:
        ranges = folder / "ranges.json"
        if recipe.calibration == "entropy":
            _entropy_ranges(source, ranges, recipe, samples, folder)
        _quantize_static(source, target, recipe, samples, exclude, ranges)


def _entropy_ranges(
    source: Path, ranges: Path, recipe: Recipe, samples: Sequence[Sample], folder: Path
) -> None:
    """Write ranges of smallest divergence. With the tool's own 128 bins they would be those of ``minmax``."""
    tool, calibrate = import_module(_TOOL), import_module(f"{_TOOL}.calibrate")
    calibrator = calibrate.create_calibrator(
        source,
        None if ALL in recipe.ops else recipe.ops,
        augmented_model_path=str(folder / "augmented.onnx"),
        calibrate_method=tool.CalibrationMethod.Entropy,
        use_external_data_format=is_large(source),
        extra_options={"num_bins": _BINS, "num_quantized_bins": _LEVELS},
    )
    calibrator.collect_data(_reader(tool, samples))
    calibrate.save_tensors_data(calibrator.compute_data(), ranges)


def _quantize_static(
    source: Path,
    target: Path,
    recipe: Recipe,
    samples: Sequence[Sample],
    exclude: Sequence[str],
    ranges: Path,
) -> None:
    tool = import_module(_TOOL)
    kinds: dict[str, Any] = {
        "u8": tool.QuantType.QUInt8, "s8": tool.QuantType.QInt8, "u16": tool.QuantType.QUInt16
    }  # fmt: skip
    methods = {
        "minmax": tool.CalibrationMethod.MinMax,
        "percentile": tool.CalibrationMethod.Percentile,
        "entropy": tool.CalibrationMethod.Entropy,
    }
    registry = import_module(f"{_TOOL}.registry")
    known = {**registry.QLinearOpsRegistry, **(registry.QDQRegistry if recipe.format == "qdq" else {})}
    tool.quantize_static(
        str(source),
        str(target),
        _reader(tool, samples),
        op_types_to_quantize=_op_types(recipe, known),
        calibration_cache_path=str(ranges) if ranges.exists() else None,
        quant_format=tool.QuantFormat.QDQ if recipe.format == "qdq" else tool.QuantFormat.QOperator,
        activation_type=kinds[recipe.activations],
        weight_type=tool.QuantType.QUInt8 if recipe.weights == "u8" else tool.QuantType.QInt8,
        per_channel=bool(recipe.per_channel),
        reduce_range=recipe.weights == "s7",
        calibrate_method=methods[recipe.calibration],
        nodes_to_exclude=list(exclude),
        use_external_data_format=is_large(source),
        extra_options={
            "ActivationSymmetric": recipe.activations == "s8",
            # Kernels take one zero point for all channels: 128.
            "WeightSymmetric": recipe.weights != "u8" or bool(recipe.per_channel),
            "CalibPercentile": _PERCENTILE,
            "UseQDQContribOps": recipe.activations == "u16",
        },
    )


def _reader(tool: Any, samples: Sequence[Sample]) -> Any:
    class Reader(tool.CalibrationDataReader):  # type: ignore[misc]
        def __init__(self) -> None:
            self.samples = iter(samples)

        def get_next(self) -> Sample | None:
            return next(self.samples, None)

        def rewind(self) -> None:
            self.samples = iter(samples)

    return Reader()


def _op_types(recipe: Recipe, known: Mapping[str, Any]) -> list[str] | None:
    """Return the types to quantize; None: all. Raises: OptionError: the format has no such quantized type."""
    if ALL in recipe.ops:
        return None
    # Gemm is a MatMul and an Add to the dynamic tool.
    unknown = [op for op in recipe.ops if op not in known and op not in PRODUCTS]
    if unknown:
        near = similar_names(unknown[0], known, 1)
        raise OptionError(
            "unknown-ops",
            f"{recipe.method} cannot quantize operators of type {unknown[0][:80]!r}.",
            f"Did you mean {near[0]}?" if near else f"Choose of {', '.join(sorted(known))}, or all.",
        )
    return list(recipe.ops)


def dynamic(
    source: Path, target: Path, recipe: Recipe, samples: Sequence[Sample], exclude: Sequence[str]
) -> None:
    """Quantize matrix products with ranges of activations computed in each run."""
    tool = import_module(_TOOL)
    tool.quantize_dynamic(
        str(source),
        str(target),
        op_types_to_quantize=_op_types(recipe, import_module(f"{_TOOL}.registry").IntegerOpsRegistry),
        per_channel=bool(recipe.per_channel),
        reduce_range=recipe.weights == "s7",
        nodes_to_exclude=list(exclude),
        use_external_data_format=is_large(source),
        weight_type=tool.QuantType.QUInt8 if recipe.weights == "u8" else tool.QuantType.QInt8,
        extra_options={
            "MatMulConstBOnly": True,
            "WeightSymmetric": recipe.weights != "u8" or bool(recipe.per_channel),
        },
    )


def weights_only(bits: int) -> Method:
    """Return a method that quantizes weights of products in blocks; computation stays in float."""

    def quantized(
        source: Path, target: Path, recipe: Recipe, samples: Sequence[Sample], exclude: Sequence[str]
    ) -> None:
        tool = _imported_quietly(f"{_TOOL}.matmul_nbits_quantizer")
        maker = tool.MatMulNBitsQuantizer(
            onnx.load(source),
            bits=bits,
            block_size=recipe.block_size,
            is_symmetric=True,
            nodes_to_exclude=list(exclude),
            algo_config=tool.DefaultWeightOnlyQuantConfig(
                block_size=recipe.block_size, is_symmetric=True, bits=bits
            ),
        )
        maker.process()
        store(maker.model.model, target)

    return quantized


def _imported_quietly(name: str) -> Any:
    """Import a module that sets up the root logger for the whole process, and undo that."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    try:
        return import_module(name)
    finally:
        root.handlers[:], root.level = handlers, level


BUILT_IN: dict[str, Method] = {
    "static": static,
    "dynamic": dynamic,
    "int8-weights": weights_only(8),
    "int4-weights": weights_only(4),
    "fp16": half,
}


def method(name: str) -> Method:
    """Return the method of a name: built in, else an entry point. Raises: OptionError."""
    if name in BUILT_IN:
        return BUILT_IN[name]
    checked_method(name)
    plugins = {plugin.name: plugin for plugin in entry_points(group=GROUP)}
    loaded: Method = plugins[name].load()
    return loaded


def apply(
    run: Method,
    source: Path,
    target: Path,
    recipe: Recipe,
    samples: Sequence[Sample],
    exclude: Sequence[str],
    name: str,
) -> None:
    """Run a method. Raises: InputError: nothing of the model was quantized; AnalysisError: the tool fails."""
    try:
        with _quiet():
            run(source, target, recipe, samples, exclude)
    except OptionError:
        raise
    except Exception as error:
        if "scale issue" in str(error):  # The tool's message for ranges that are not finite.
            raise InputError(
                "data-not-finite",
                f"{name}: tensors inside the model are NaN or infinite with these samples.",
                "Use other samples. `verify` names the layer.",
            ) from error
        if recipe.format == "qoperator" and "unknown initializers/tensors" in str(error):
            raise InputError(
                "format-unsupported",
                f"{name}: the format qoperator cannot keep Where in float between quantized operators.",
                "Use --format qdq.",
            ) from error
        raise AnalysisError(
            "quantizer-failed",
            f"{name}: the {recipe.method} quantizer fails: {_clean_message(one_line(error, source))}",
        ) from error
    if recipe.method in BUILT_IN and recipe.method != "fp16":
        op_types = {node.op_type for node in onnx.load(target, load_external_data=False).graph.node}
        if not any(
            "Quantize" in op_type or op_type.startswith("QLinear") or op_type == "MatMulNBits"
            for op_type in op_types
        ):
            why, hint = nothing_quantized(onnx.load(source, load_external_data=False), recipe.method)
            raise InputError("nothing-to-quantize", f"{name}: {why}.", hint)


def _clean_message(text: str) -> str:
    """Return ONNX Runtime's message without its codes and the names of temporary files."""
    return re.sub(r"\[ONNXRuntimeError\] : \d+ : \w+ : |Load model from \S+ failed:\s*", "", text)


@contextmanager
def _quiet() -> Iterator[None]:
    """Suppress the tools' output and log warnings, which refer to steps that ``prepare`` has done."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with quiet_default_logger(), redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            yield
    finally:
        logging.disable(before)
